package config

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Console holds the settings of the console and of signing in to it.
type Console struct {
	address, operators string
	// Issuer is the identity provider's URL, or "" if links sign users in. ClientID is the console's id at the provider.
	Issuer, ClientID string
	// SecretFile names the file with the client's secret. It is "" for a public client.
	SecretFile string
	// Resource is the API's resource indicator (RFC 8707), or "".
	Resource string
}

func (c *Console) flags(f *pflag.FlagSet) {
	f.StringVar(&c.address, "console-url", "", "the `URL` of the console in browsers: https://host, or http:// on a loopback address (default: the address of --console-listen); without --console-listen, where a portcullis console is, for links to it")
	f.StringVar(&c.Issuer, "console-issuer", "", "the https `URL` of the identity provider that signs users in to the console (default: `portcullis console link` does)")
	f.StringVar(&c.ClientID, "console-client-id", "", "the client `id` of the console at the identity provider; register the redirect URI <console-url>/login/callback")
	f.StringVar(&c.SecretFile, "console-client-secret-file", "", "the `file` with the client's secret (default: a public client)")
	f.StringVar(&c.Resource, "console-resource", "", "the resource indicator `URI` of the API (RFC 8707), the audience of access tokens")
	f.StringVar(&c.operators, "console-operators", "", "the external `ids` of users who see the whole installation in the console, as user-a,user-b")
}

// Operators returns the ids of the users who see the whole installation.
func (c Console) Operators() []string {
	if c.operators == "" {
		return nil
	}
	return strings.Split(c.operators, ",")
}

// URL returns the console's URL in the form of an Origin header. listener is the default host. It returns nil if the
// setting is malformed.
func (c Console) URL(listener string, hasTLS bool) *url.URL {
	text := c.address
	if text == "" {
		text = map[bool]string{false: "http://", true: "https://"}[hasTLS] + listener
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil
	}
	u.Path, u.Host = "", strings.ToLower(u.Host)
	if port := u.Port(); port != "" && port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u
}

// ValidateConsole returns the problems with the settings of a console in a separate process.
func (c *Config) ValidateConsole() []resources.Problem {
	if c.Listeners.Console == "" {
		return []resources.Problem{problem("--console-listen", "is missing: set host:port or :port")}
	}
	var problems []resources.Problem
	if _, _, err := net.SplitHostPort(c.Listeners.Console); err != nil {
		problems = append(problems, problem("--console-listen", "must be host:port or :port, not %q", c.Listeners.Console))
	}
	return slices.Concat(problems, c.Console.Validate(c.Listeners), c.Listeners.validateTLS(), c.Limits.Validate(), c.Log.Validate())
}

// validateURL returns the problem with the URL, if it has one.
func (c Console) validateURL(l Listeners) (problems []resources.Problem) {
	switch u := c.URL(l.Console, l.HasTLS()); {
	case u == nil:
		problems = append(problems, problem("--console-url", "must be https://host or https://host:port, or http:// on a loopback address, without a path, not %q", c.address))
	case u.Scheme == "http" && !resources.IsLoopback(u.Hostname()):
		problems = append(problems, problem("--console-url", "must be https://host, or http:// on a loopback address: plain HTTP exposes sessions to the network"))
	case u.Scheme == "http" && l.Console != "" && l.HasTLS():
		problems = append(problems, problem("--console-url", "must be https://, since --console-listen speaks TLS with --tls-cert-file"))
	}
	return problems
}

// Validate returns the problems with the settings, given those of the listeners. Without a listener the URL is that of a
// console in a separate process.
func (c Console) Validate(l Listeners) (problems []resources.Problem) {
	if l.Console == "" {
		if c.address != "" {
			problems = c.validateURL(l)
		}
		for _, one := range []struct{ flag, value string }{
			{"--console-issuer", c.Issuer},
			{"--console-client-id", c.ClientID},
			{"--console-client-secret-file", c.SecretFile},
			{"--console-resource", c.Resource},
			{"--console-operators", c.operators},
		} {
			if one.value != "" {
				problems = append(problems, problem(one.flag, "needs --console-listen, which turns the console on"))
			}
		}
		return problems
	}
	if problems = c.validateURL(l); problems == nil && !l.HasTLS() && !resources.IsLoopback(hostOf(l.Console)) {
		problems = append(problems, problem("--console-listen", "must be a loopback address, or needs --tls-cert-file: plain HTTP exposes sessions to the network"))
	}
	if (c.Issuer == "") != (c.ClientID == "") {
		problems = append(problems, problem("--console-issuer", "needs --console-client-id, and --console-client-id needs --console-issuer"))
	}
	if c.Issuer != "" {
		if u := webAddress(c.Issuer); u == nil || u.Scheme == "http" && !resources.IsLoopback(u.Hostname()) {
			problems = append(problems, problem("--console-issuer", "must be the https URL of an identity provider, or http:// on a loopback address, without a user"))
		}
	}
	if c.SecretFile != "" {
		problems = append(problems, validateSecretFile("--console-client-secret-file", c.SecretFile)...)
	}
	if c.Issuer == "" && (c.SecretFile != "" || c.Resource != "") {
		problems = append(problems, problem("--console-client-secret-file", "and --console-resource need --console-issuer"))
	}
	for _, id := range c.Operators() {
		if !resources.ValidID(id) {
			problems = append(problems, problem("--console-operators", "must be external ids separated by commas; %q is malformed", id))
		}
	}
	return problems
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return host
}

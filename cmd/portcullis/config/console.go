package config

import (
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Console says how people reach the console and sign in to it.
type Console struct {
	address, operators string
	// Issuer is the identity provider's URL, "" for sign-in by links. ClientID is the console's there.
	Issuer, ClientID string
	// SecretFile holds the client's secret, "" for a public client.
	SecretFile string
	// Resource is the resource indicator of the API, "" for none.
	Resource string
}

func (c *Console) flags(f *pflag.FlagSet) {
	f.StringVar(&c.address, "console-url", "", "the `URL` under which browsers reach the console: https://host, or http:// on a loopback address (default: that of --console-listen)")
	f.StringVar(&c.Issuer, "console-issuer", "", "the `URL` of the identity provider with which people sign in to the console; without it `portcullis console link` signs in")
	f.StringVar(&c.ClientID, "console-client-id", "", "the `id` of the console at the identity provider, whose redirect URI is <console-url>/login/callback")
	f.StringVar(&c.SecretFile, "console-client-secret-file", "", "the `file` with the client's secret (default: a public client)")
	f.StringVar(&c.Resource, "console-resource", "", "the resource indicator `URI` of the API (RFC 8707), which is the audience of the access token")
	f.StringVar(&c.operators, "console-operators", "", "the external `ids` of users who see the whole installation in the console, as user-a,user-b")
}

// Operators returns the ids of the users who see the installation.
func (c Console) Operators() []string {
	if c.operators == "" {
		return nil
	}
	return strings.Split(c.operators, ",")
}

// URL returns the console's address for a listener, in the form of an Origin header; nil is that the setting is none.
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

// Secret reads the client's secret.
func (c Console) Secret() (string, error) {
	if c.SecretFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(c.SecretFile)
	return strings.TrimSpace(string(raw)), err
}

// ValidateConsole returns what is wrong with the settings of a console in a process of its own.
func (c *Config) ValidateConsole() []resources.Problem {
	if c.Listeners.Console == "" {
		return []resources.Problem{problem("--console-listen", "is empty; give host:port or :port")}
	}
	var problems []resources.Problem
	if _, _, err := net.SplitHostPort(c.Listeners.Console); err != nil {
		problems = append(problems, problem("--console-listen", "must be host:port or :port, not %q", c.Listeners.Console))
	}
	return slices.Concat(problems, c.Console.Validate(c.Listeners), c.Listeners.validateTLS(), c.Limits.Validate(), c.Log.Validate())
}

// Validate returns what is wrong with the settings beside those of the listeners.
func (c Console) Validate(l Listeners) (problems []resources.Problem) {
	if l.Console == "" {
		for _, one := range []struct{ flag, value string }{
			{"--console-url", c.address},
			{"--console-issuer", c.Issuer},
			{"--console-client-id", c.ClientID},
			{"--console-client-secret-file", c.SecretFile},
			{"--console-resource", c.Resource},
			{"--console-operators", c.operators},
		} {
			if one.value != "" {
				problems = append(problems, problem(one.flag, "needs --console-listen: there is no console without it"))
			}
		}
		return problems
	}
	switch u := c.URL(l.Console, l.HasTLS()); {
	case u == nil:
		problems = append(problems, problem("--console-url", "must be https://host or https://host:port, or http:// on a loopback address, without a path, not %q", c.address))
	case u.Scheme == "http" && !loopback(u.Hostname()):
		problems = append(problems, problem("--console-url", "must be https://host: over plain HTTP a session could be read on the way; only a loopback address may be http://"))
	case u.Scheme == "http" && l.HasTLS():
		problems = append(problems, problem("--console-url", "must be https://, since --console-listen speaks TLS with --tls-cert-file"))
	case !l.HasTLS() && !loopback(hostOf(l.Console)):
		problems = append(problems, problem("--console-listen", "must be a loopback address, or needs --tls-cert-file: over plain HTTP a session could be read on the way"))
	}
	if (c.Issuer == "") != (c.ClientID == "") {
		problems = append(problems, problem("--console-issuer", "and --console-client-id go together"))
	}
	if c.Issuer != "" && webAddress(c.Issuer) == nil {
		problems = append(problems, problem("--console-issuer", "must be the URL of an identity provider, not %q", c.Issuer))
	}
	if c.Issuer == "" && (c.SecretFile != "" || c.Resource != "") {
		problems = append(problems, problem("--console-client-secret-file", "and --console-resource need --console-issuer"))
	}
	for _, id := range c.Operators() {
		if !resources.ValidID(id) {
			problems = append(problems, problem("--console-operators", "must be external ids with commas between, and %q is none", id))
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

// loopback reports whether only this machine reaches a host.
func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

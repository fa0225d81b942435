package config

import (
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// MCP holds the credentials that the gateway shows to MCP servers.
type MCP struct {
	secretFiles []string
	Exchange    Exchange
}

// Exchange holds the settings of the token endpoint at which the gateway exchanges callers' tokens.
type Exchange struct {
	// URL is "" without an endpoint. SecretFile has the secret of ClientID.
	URL, ClientID, SecretFile     string
	audiences, indicators, scopes []string
}

// ExchangeTarget is an upstream as the authorization server knows it. Audience or Resource may be "".
type ExchangeTarget struct {
	Audience, Resource string
	Scopes             []string
}

func (m *MCP) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&m.secretFiles, "upstream-secret-file", nil, "the file with the bearer token for MCP servers whose credential is secret, as `upstream=file` (repeatable)")
	e := &m.Exchange
	f.StringVar(&e.URL, "exchange-url", "", "the `URL` of the token endpoint (RFC 8693) for MCP servers whose credential is exchange: https://…, or http:// on a loopback address")
	f.StringVar(&e.ClientID, "exchange-client-id", "", "the client `id` of the gateway at the token endpoint")
	f.StringVar(&e.SecretFile, "exchange-client-secret-file", "", "the `file` with the secret of that client")
	f.StringArrayVar(&e.audiences, "exchange-audience", nil, "the audience of tokens for an upstream, as `upstream=audience` (repeatable)")
	f.StringArrayVar(&e.indicators, "exchange-resource", nil, "the resource indicator (RFC 8707) of tokens for an upstream, as `upstream=URI` (repeatable)")
	f.StringArrayVar(&e.scopes, "exchange-scope", nil, "a scope of tokens for an upstream, as `upstream=scope` (repeatable, several for one upstream too)")
}

// SecretFiles returns the files with bearer tokens by the names of their upstreams.
func (m MCP) SecretFiles() map[string]string {
	files := map[string]string{}
	for _, pair := range m.secretFiles {
		name, file, _ := strings.Cut(pair, "=") // Validate returns the problems
		files[name] = file
	}
	return files
}

// Targets returns the upstreams with an audience or a resource indicator by their names.
func (e Exchange) Targets() map[string]ExchangeTarget {
	targets := map[string]ExchangeTarget{}
	for _, pair := range e.audiences {
		name, value, _ := strings.Cut(pair, "=")
		targets[name] = ExchangeTarget{Audience: value}
	}
	for _, pair := range e.indicators {
		name, value, _ := strings.Cut(pair, "=")
		t := targets[name]
		t.Resource = value
		targets[name] = t
	}
	for _, pair := range e.scopes {
		name, value, _ := strings.Cut(pair, "=")
		if t, ok := targets[name]; ok {
			t.Scopes = append(t.Scopes, value)
			targets[name] = t
		}
	}
	return targets
}

// Validate returns what is wrong with the credentials, given the upstreams.
func (m MCP) Validate(a Areas) (problems []resources.Problem) {
	files := pairs{flag: "--upstream-secret-file", list: m.secretFiles, check: validateSecretFile}
	return append(files.validate(a), m.Exchange.validate(a)...)
}

// validate returns what is wrong with the endpoint and its targets.
func (e Exchange) validate(a Areas) (problems []resources.Problem) {
	if e.URL == "" {
		if e.ClientID != "" || e.SecretFile != "" || len(e.audiences)+len(e.indicators)+len(e.scopes) > 0 {
			return []resources.Problem{problem("--exchange-url", "is missing, and other --exchange settings need it")}
		}
		return nil
	}
	if u := webAddress(e.URL); u == nil || u.RawQuery != "" || u.Scheme == "http" && !resources.IsLoopback(u.Hostname()) {
		problems = append(problems, problem("--exchange-url", "must be https://host/path, or http:// on a loopback address, without a user and a query"))
	}
	if e.ClientID == "" || e.SecretFile == "" {
		problems = append(problems, problem("--exchange-url", "needs --exchange-client-id and --exchange-client-secret-file"))
	} else {
		problems = append(problems, validateSecretFile("--exchange-client-secret-file", e.SecretFile)...)
	}
	targets := e.Targets()
	for _, one := range []pairs{
		{flag: "--exchange-audience", list: e.audiences, check: func(setting, audience string) []resources.Problem {
			if !printable(audience) {
				return []resources.Problem{problem(setting, "must be a text in visible characters")}
			}
			return nil
		}},
		{flag: "--exchange-resource", list: e.indicators, check: func(setting, indicator string) []resources.Problem {
			if u, err := url.Parse(indicator); err != nil || !u.IsAbs() || strings.Contains(indicator, "#") || u.User != nil {
				return []resources.Problem{problem(setting, "must be an absolute URI without a fragment and a user (RFC 8707)")}
			}
			return nil
		}},
		{flag: "--exchange-scope", list: e.scopes, repeatable: true, check: func(setting, scope string) []resources.Problem {
			name := strings.TrimPrefix(setting, "--exchange-scope ")
			if _, ok := targets[name]; !ok {
				return []resources.Problem{problem(setting, "needs --exchange-audience or --exchange-resource for the upstream")}
			}
			if !printable(scope) || strings.ContainsAny(scope, " \"\\") {
				return []resources.Problem{problem(setting, "must be one scope (RFC 6749, 3.3)")}
			}
			return nil
		}},
	} {
		problems = append(problems, one.validate(a)...)
	}
	return problems
}

// printable reports whether a text has only visible ASCII characters and spaces.
func printable(text string) bool {
	return strings.Trim(text, " ") == text && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// pairs is a list of upstream=value.
type pairs struct {
	flag string
	list []string
	// repeatable lets an upstream have several values.
	repeatable bool
	check      func(setting, value string) []resources.Problem
}

// validate returns what is wrong with the list. A problem repeats the name of an upstream only: anything else may be a
// secret.
func (p pairs) validate(a Areas) (problems []resources.Problem) {
	upstreams, given := a.Upstreams(), map[string]bool{}
	for _, pair := range p.list {
		name, value, _ := strings.Cut(pair, "=")
		setting := p.flag + " " + name
		switch {
		case upstreams[name] == nil || value == "":
			problems = append(problems, problem(p.flag, "must be upstream=value, where upstream is the name of an --upstream"))
		case given[name] && !p.repeatable:
			problems = append(problems, problem(setting, "is given twice; leave one out"))
		default:
			problems = append(problems, p.check(setting, value)...)
		}
		given[name] = true
	}
	return problems
}

// validateSecretFile returns what is wrong with a file that only the owner and the group may read. The reader of the file
// checks its content.
func validateSecretFile(setting, file string) []resources.Problem {
	info, err := os.Stat(file)
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err // the name may be a secret that was given in place of a file
	}
	switch {
	case err != nil:
		return []resources.Problem{problem(setting, "must name a file: %s", err.Error())}
	case !info.Mode().IsRegular():
		return []resources.Problem{problem(setting, "must name a regular file, not %s", file)}
	case info.Mode().Perm()&(othersRead|othersWrite) != 0:
		return []resources.Problem{problem(setting, "every user of this machine can read or change %s; run chmod o-rwx on it (its group may read it)", file)}
	}
	return nil
}

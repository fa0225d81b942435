package config

import (
	"net"
	"strings"

	"github.com/spf13/pflag"
)

// concealed stands for what a log must not show.
const concealed = "…"

// InForce returns the settings as pairs of name and value, for a log. It leaves out a URL's user and query: either may
// be secret.
func (c *Config) InForce(flags *pflag.FlagSet) (pairs []any) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for i := range values {
			values[i] = shown(values[i])
		}
		pairs = append(pairs, f.Name, strings.Join(values, " "))
	})
	var issuers []string
	for _, one := range c.Credentials.Issuers() {
		issuers = append(issuers, one.Issuer)
	}
	return append(pairs, keyIssuers, strings.Join(issuers, " "))
}

// shown returns a value without what may be a secret. A password may hold any character, so a URL with an @
// behind its first ? or # is concealed as a whole.
func shown(value string) string {
	name, address, isURL := strings.Cut(value, "://")
	if !isURL {
		return value
	}
	rest := ""
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address, rest = address[:end], address[end:]
	}
	if strings.Contains(rest, "@") {
		return name + "://" + concealed
	}
	if index := strings.LastIndex(address, "@"); index >= 0 {
		address = concealed + address[index:]
	}
	if rest != "" {
		address += rest[:1] + concealed
	}
	return name + "://" + address
}

// Warnings returns what the settings allow that a gateway in production should not, and those without an effect.
func (c *Config) Warnings(flags *pflag.FlagSet) (all []string) {
	all = c.withoutEffect(flags)
	if !c.Listeners.HasTLS() {
		for _, one := range c.Listeners.All(c.Areas.BehindGateways())[1:] {
			if host, _, err := net.SplitHostPort(one.Address); err == nil && every(host) {
				all = append(all, one.Flag+" is every address of the machine, and without TLS credentials can be read on the way: "+
					"give --tls-cert-file and --tls-key-file, or let a proxy with TLS alone reach it")
			}
		}
	}
	if c.Areas.BehindGateways() {
		return all
	}
	if c.Mail.SMTPURL == "" {
		all = append(all, "there is no --smtp-url: invitations go to the log and the data folder, and reach nobody")
	}
	if !c.Credentials.Outside() {
		all = append(all, "there is no identity provider (--jwks-url, --jwks-file, issuers): the data folder's own key signs tokens, and everybody who can read it can sign in as anybody")
	}
	return all
}

package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// Credentials says whose tokens are accepted.
type Credentials struct {
	// IdentityProvider is the one value of authentication_partner.
	IdentityProvider string

	issuer issuerFlags
	// listed are the issuers of the configuration file.
	listed []Issuer
}

// issuerFlags are the flags that name one outside issuer.
type issuerFlags struct{ jwksURL, jwksFile, name, audience string }

// Issuer is an outside issuer of tokens, as the configuration file lists it.
type Issuer struct {
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
	JWKSURL  string `yaml:"jwks_url"`
	JWKSFile string `yaml:"jwks_file"`
	// Subjects is external_id, partner_id or both.
	Subjects string `yaml:"subjects"`
	Services struct {
		Allowed bool     `yaml:"allowed"`
		Scopes  []string `yaml:"scopes"`
	} `yaml:"services"`
	// Apps are the client ids of the operator's own applications, which are not agents.
	Apps []string `yaml:"apps"`
}

func (c *Credentials) flags(f *pflag.FlagSet) {
	f.StringVar(&c.issuer.jwksURL, "jwks-url", "", "the `URL` of the key set of an outside issuer of tokens: https://…")
	f.StringVar(&c.issuer.jwksFile, "jwks-file", "", "the `file` with the key set of an outside issuer of tokens")
	f.StringVar(&c.issuer.name, "jwt-issuer", "", "the `issuer` (iss) of the tokens that are accepted; goes with --jwt-audience and a key set")
	f.StringVar(&c.issuer.audience, "jwt-audience", "", "the `audience` (aud) of the tokens that are accepted")
	f.StringVar(&c.IdentityProvider, "identity-provider", "OIDC", "the upper-case `name` of the identity provider, which stands in authentication_partner")
}

// Outside reports whether tokens come from outside issuers. Otherwise the data folder's own key
// signs them.
func (c Credentials) Outside() bool { return len(c.Issuers()) > 0 }

// Issuers returns the outside issuers. The one that flags name may name users by both of
// their names, and services with every scope.
func (c Credentials) Issuers() []Issuer {
	if c.issuer == (issuerFlags{}) {
		return c.listed
	}
	one := Issuer{
		Issuer: c.issuer.name, Audience: c.issuer.audience, JWKSURL: c.issuer.jwksURL, JWKSFile: c.issuer.jwksFile, Subjects: string(authn.SubjectsBoth),
	}
	one.Services.Allowed = true
	one.Services.Scopes = resources.ServiceScopes()
	return []Issuer{one}
}

// TokenIssuers returns the names of the issuers whose tokens are accepted.
func (c Credentials) TokenIssuers() (names []string) {
	for _, one := range c.Issuers() {
		names = append(names, one.Issuer)
	}
	if len(names) == 0 {
		return []string{authn.BuiltinIssuer}
	}
	return names
}

// Validate returns what is wrong with the issuers' settings.
func (c Credentials) Validate() (problems []resources.Problem) {
	if !providerName(c.IdentityProvider) {
		problems = append(problems, problem("--identity-provider", "must be 1 to 64 upper-case letters, digits, _ and -, and begin with a letter, not %q", c.IdentityProvider))
	}
	for i, one := range c.listed {
		if (one.JWKSURL == "") == (one.JWKSFile == "") {
			problems = append(problems, problem(fmt.Sprintf("issuers[%d]", i), "needs one of jwks_url and jwks_file"))
		}
	}
	flags := c.issuer
	switch {
	case flags == (issuerFlags{}):
	case flags.name == "" || flags.audience == "" || (flags.jwksURL == "") == (flags.jwksFile == ""):
		problems = append(problems, problem("--jwt-issuer", "belongs together with --jwt-audience and one of --jwks-url and --jwks-file: give all three or none"))
	case len(c.listed) > 0:
		problems = append(problems, problem("--jwt-issuer", "is given, and issuers stand in the configuration file too; use one of them"))
	}
	return problems
}

// providerName reports whether the name has the form of an identity provider's.
func providerName(name string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return name != "" && len(name) <= 64 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789_-") == ""
}

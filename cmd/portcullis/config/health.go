package config

import (
	"net/url"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Health says what the private listener shows, and which services readiness checks.
type Health struct {
	// Accounts and Notifications are the addresses of outside services, "" for the built-in
	// ones.
	Accounts, Notifications string
	// Profiles serves /debug/pprof.
	Profiles bool
}

func (h *Health) flags(f *pflag.FlagSet) {
	f.StringVar(&h.Accounts, "accounts-url", "", "the `URL` of an accounts service that readiness checks instead of the built-in one")
	f.StringVar(&h.Notifications, "notifications-url", "", "the `URL` of a notification service that readiness checks instead of the built-in one")
	f.BoolVar(&h.Profiles, "pprof", false, "serve profiles at /debug/pprof on the health listener")
}

// Validate returns what is wrong with the addresses.
func (h Health) Validate() (problems []resources.Problem) {
	for _, one := range []struct{ flag, address string }{{"--accounts-url", h.Accounts}, {"--notifications-url", h.Notifications}} {
		if one.address != "" && webAddress(one.address) == nil {
			problems = append(problems, problem(one.flag, "must be http://host:port/path or https://host:port/path, without a user"))
		}
	}
	return problems
}

// webAddress returns the address of a service, nil if the text is none.
func webAddress(text string) *url.URL {
	base, err := url.Parse(text)
	if err != nil || base.Hostname() == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil || base.Fragment != "" {
		return nil
	}
	return base
}

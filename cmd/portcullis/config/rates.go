package config

import (
	"cmp"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
)

// rateOff sets no limit.
const rateOff = "off"

// Rates says how many requests callers may make, as flags give it.
type Rates struct{ principal, service, account, failures string }

// RateLimits are parsed rates; the zero value of each sets no limit.
type RateLimits struct{ Principal, Service, Account, Failures ratelimit.Rate }

func (r *Rates) flags(f *pflag.FlagSet) {
	f.StringVar(&r.principal, "rate-principal", rateOff, "the `rate` of requests of each user and each service: 100/s, or 600/m,50 with 50 at once, or off")
	f.StringVar(&r.service, "rate-service", "", "the `rate` of requests of each service instead (default: --rate-principal)")
	f.StringVar(&r.account, "rate-account", rateOff, "the `rate` of requests of all users of an account together")
	f.StringVar(&r.failures, "rate-failures", rateOff, "the `rate` of refused credentials from one address; only where clients reach the gateway without a proxy")
}

// Limits returns the rates.
func (r Rates) Limits() RateLimits {
	limits, _ := r.read() // Validate returns the problems
	return limits
}

// Validate returns a problem for each rate that cannot be read.
func (r Rates) Validate() []resources.Problem {
	_, problems := r.read()
	return problems
}

// read parses the rates, and returns all that is wrong with them. Without --rate-service services have that of
// --rate-principal.
func (r Rates) read() (limits RateLimits, problems []resources.Problem) {
	for _, one := range []struct {
		flag, text string
		rate       *ratelimit.Rate
	}{
		{"--rate-principal", r.principal, &limits.Principal},
		{"--rate-service", cmp.Or(r.service, rateOff), &limits.Service},
		{"--rate-account", r.account, &limits.Account},
		{"--rate-failures", r.failures, &limits.Failures},
	} {
		rate, err := ratelimit.ParseRate(one.text)
		if err != nil {
			problems = append(problems, problem(one.flag, "is %q, and %s", one.text, err))
		}
		*one.rate = rate
	}
	if r.service == "" {
		limits.Service = limits.Principal
	}
	return limits, problems
}

// LimitCallers reports whether there is a rate that replicas share.
func (l RateLimits) LimitCallers() bool {
	none := ratelimit.Rate{}
	return l.Principal != none || l.Service != none || l.Account != none
}

package config

import (
	"cmp"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
)

// rateOff is no limit.
const rateOff = "off"

// Rates says how many requests callers may make, as flags give it.
type Rates struct{ principal, service, account, failures string }

// RateLimits are rates that were read; the zero value of each is no limit.
type RateLimits struct{ Principal, Service, Account, Failures ratelimit.Rate }

func (r *Rates) flags(f *pflag.FlagSet) {
	f.StringVar(&r.principal, "rate-principal", rateOff, "how many requests each user and each service may make, a `rate`: 100/s, or 600/m,50 with 50 at once, or off")
	f.StringVar(&r.service, "rate-service", "", "how many each service may make instead, a `rate` (default: --rate-principal)")
	f.StringVar(&r.account, "rate-account", rateOff, "how many requests all users of an account may make together, a `rate`")
	f.StringVar(&r.failures, "rate-failures", rateOff, "how many credentials from one address may be refused, a `rate`; only where clients reach the gateway without a proxy")
}

// Limits returns the rates.
func (r Rates) Limits() RateLimits {
	limits, _ := r.read() // Validate returns the problems
	return limits
}

// Validate returns the rates that are none.
func (r Rates) Validate() []resources.Problem {
	_, found := r.read()
	return found
}

func (r Rates) read() (limits RateLimits, found []resources.Problem) {
	for _, one := range []struct {
		flag, text string
		to         *ratelimit.Rate
	}{
		{"--rate-principal", r.principal, &limits.Principal},
		{"--rate-service", cmp.Or(r.service, rateOff), &limits.Service},
		{"--rate-account", r.account, &limits.Account},
		{"--rate-failures", r.failures, &limits.Failures},
	} {
		rate, err := ratelimit.ParseRate(one.text)
		if err != nil {
			found = append(found, problem(one.flag, "%s, not %q", err, one.text))
		}
		*one.to = rate
	}
	if r.service == "" {
		limits.Service = limits.Principal
	}
	return limits, found
}

// LimitCallers reports whether there is a rate that replicas share.
func (l RateLimits) LimitCallers() bool {
	none := ratelimit.Rate{}
	return l.Principal != none || l.Service != none || l.Account != none
}

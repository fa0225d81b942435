package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store/redis"
)

const (
	defaultCold = 1024
	rateOff     = "off"
	// databaseReads are under way at once where the store is asked over the network; the
	// others of its connections are for changes and for reading how far it has come.
	databaseReads = 64
)

// boundSettings are what bounds the work that callers can cause, beside gateway.Limits.
type boundSettings struct {
	principal, service, account, failures string
	// cold is how many may wait for what is not in memory.
	cold int
	// rates are those of above, read.
	rates struct{ principal, service, account, failures ratelimit.Rate }
}

func (s *settings) boundFlags(f *pflag.FlagSet) {
	limits, b := gateway.DefaultLimits(), &s.bounds
	f.StringVar(&b.principal, "rate-principal", rateOff, "how many requests each user and each service may make: 100/s, or 600/m,50 with 50 at once, or off")
	f.StringVar(&b.service, "rate-service", "", "how many each service may make, instead of --rate-principal")
	f.StringVar(&b.account, "rate-account", rateOff, "how many requests all users of an account may make together")
	f.StringVar(&b.failures, "rate-failures", rateOff, "how many credentials from one address may be refused; only where clients reach the gateway without a proxy")
	f.IntVar(&s.limits.Connections, "max-connections", limits.Connections, "how many connections may be open; 0 is no bound")
	f.IntVar(&s.limits.PerAddress, "max-connections-per-address", limits.PerAddress, "how many of them from one address (IPv6: one /64); 0 is no bound")
	f.IntVar(&s.limits.Requests, "max-requests", limits.Requests, "how many requests may be under way, in this process and to each upstream; 0 is no bound")
	sizeVar(f, &s.limits.Bodies, "max-body-memory", limits.Bodies, "what the bodies of all requests under way may take together; 0 is no bound")
	f.IntVar(&b.cold, "max-cold", defaultCold, "how many questions may wait for what is not in memory, of each kind; 0 has none wait")
}

func (s *settings) checkBounds() error {
	b := &s.bounds
	for _, of := range []struct {
		name, text string
		rate       *ratelimit.Rate
	}{
		{"--rate-principal", b.principal, &b.rates.principal},
		{"--rate-service", cmp.Or(b.service, b.principal), &b.rates.service},
		{"--rate-account", b.account, &b.rates.account},
		{"--rate-failures", b.failures, &b.rates.failures},
	} {
		var err error
		if *of.rate, err = ratelimit.ParseRate(of.text); err != nil {
			return fmt.Errorf("%s %w", of.name, err)
		}
	}
	for name, n := range map[string]int{
		"--max-connections": s.limits.Connections, "--max-connections-per-address": s.limits.PerAddress,
		"--max-requests": s.limits.Requests, "--max-cold": b.cold,
	} {
		if n < 0 {
			return fmt.Errorf("%s must not be below 0", name)
		}
	}
	if s.limits.Bodies > 0 && s.limits.Bodies < s.limits.Body {
		return fmt.Errorf("--max-body-memory must be --body-limit at least, or 0")
	}
	return nil
}

// limitsCallers says whether there is a rate that replicas share.
func (b *boundSettings) limitsCallers() bool {
	none := ratelimit.Rate{}
	return b.rates.principal != none || b.rates.service != none || b.rates.account != none
}

// gates bound the work of cache misses, so that it leaves a processor to cache hits.
type gates struct {
	// work needs a processor: evaluations of policy, checks of signatures, and reads of the
	// store in this process.
	work *gate.Gate
	// reads are those of the store.
	reads *gate.Gate
}

func (s *settings) newGates() gates {
	g := gates{work: gate.New(runtime.GOMAXPROCS(0)*3/4, s.bounds.cold)}
	if g.reads = g.work; s.mongoURL != "" {
		g.reads = gate.New(databaseReads, s.bounds.cold)
	}
	return g
}

// allGates are the gates by the names that metrics give them.
func (a *app) allGates() map[string]*gate.Gate {
	all := a.edge.Gates()
	all["work"] = a.gates.work
	if a.gates.reads != a.gates.work {
		all["reads"] = a.gates.reads
	}
	return all
}

// newRates makes the limiters that were asked for. Replicas with a Redis share them, but
// for that of failures, which protects the process.
func (s *settings) newRates(a *app) (gateway.Rates, error) {
	r, shared := s.bounds.rates, ratelimit.Shared(nil)
	if s.redisURL != "" && s.bounds.limitsCallers() {
		client, err := redis.NewClient(s.redisURL)
		if err != nil {
			return gateway.Rates{}, fmt.Errorf("--redis-url: %w", err)
		}
		shared = client.Buckets(a.master.Derive(resources.PurposeRate)[0], sharedRatesChanged(a.log.Logger))
	}
	limiter := func(name string, rate ratelimit.Rate, shared ratelimit.Shared) *ratelimit.Limiter {
		return ratelimit.New(ratelimit.Options{Name: name, Rate: rate, Shared: shared, Now: time.Now})
	}
	return gateway.Rates{
		Principal: limiter(gateway.LimitPrincipal, r.principal, shared), Service: limiter(gateway.LimitService, r.service, shared),
		Account: limiter(gateway.LimitAccount, r.account, shared), Failures: limiter(gateway.LimitFailures, r.failures, nil),
	}, nil
}

// sharedRatesChanged tells the operator what the limits mean now.
func sharedRatesChanged(log *slog.Logger) func(cause error) {
	return func(cause error) {
		if cause == nil {
			log.Info("rates are shared again")
			return
		}
		log.Warn("rates can't be shared; each gateway holds callers to the whole rate by itself", "error", cause.Error())
	}
}

package gateway

import (
	"context"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// Rates are what callers are held to; nil is no limit. A caller is who the credential
// proves them to be, whatever headers say. A service has no account: what it asks about an
// account is on its own rate, so that no account can use up another's, nor the service's.
type Rates struct {
	// Principal is of each user, with their API keys; Service of each service.
	Principal, Service *ratelimit.Limiter
	// Account is of all users of an account together.
	Account *ratelimit.Limiter
	// Failures is of the credentials from one address (of IPv6, one /64) that are refused.
	Failures *ratelimit.Limiter
}

// What refuses a request; Record.Limited.
const (
	LimitPrincipal = "principal"
	LimitService   = "service"
	LimitAccount   = "account"
	LimitFailures  = "failures"
)

// newBounded makes an edge with its bounds and nothing to do.
func newBounded(cfg Config) *Edge {
	return &Edge{
		bodies: bodies{most: int64(cfg.Limits.Bodies)},
		cfg:    cfg, serve: newServer(cfg), gate: newGate(cfg.Limits.Requests),
		open: listen.NewBounds(cfg.Limits.Connections, cfg.Limits.PerAddress, cfg.IDs, cfg.Log),
	}
}

// newGate has nobody wait: who waits here would hold memory for an answer that comes late.
func newGate(requests int) *gate.Gate {
	if requests == 0 {
		return nil
	}
	return gate.New(requests, 0)
}

// admit sheds what is too much, before anything is worked out for it: 503.
func (e *Edge) admit(x *exchange) error {
	if err := e.gate.Enter(x.ctx); err != nil {
		return err
	}
	x.inside = e.gate
	return nil
}

// identify finds out who calls, unless too many credentials from their address were refused.
func (e *Edge) identify(x *exchange) error {
	if x.entry.Public {
		return e.authenticate(x)
	}
	if v := e.cfg.Rates.ofFailures(x.raw); !v.Allowed {
		x.record.Limited = LimitFailures
		return tooMany("Too many credentials from this address were refused; wait before sending another one.", v)
	}
	err := e.authenticate(x)
	if failures := e.cfg.Rates.Failures; failures != nil && resources.IsKind(err, resources.KindBadCredential) {
		failures.Take(x.ctx, addressOf(x.raw), time.Time{}) // it is not shared: nobody is asked
	}
	return err
}

// ofFailures says whether a credential from the request's address is looked at, those that are
// known included.
func (r *Rates) ofFailures(raw *fasthttp.RequestCtx) ratelimit.Verdict {
	if r.Failures == nil {
		return ratelimit.Verdict{Allowed: true}
	}
	return r.Failures.Look(addressOf(raw))
}

// limit holds the caller, and then their account, to their rates: 429.
func (e *Edge) limit(x *exchange) error {
	if x.entry.Public || !e.cfg.Rates.ofCallers() {
		return nil
	}
	paid := e.cfg.Rates.charge(x.ctx, &x.principal)
	if x.rated = paid.told; x.rated != nil {
		tellRate(&x.raw.Response.Header, x.rated)
	}
	if x.record.Limited = paid.refused; x.record.Limited == "" {
		return nil
	}
	return tooMany("Too many requests; wait before sending another one.", *x.rated)
}

// ofCallers says whether there is a rate of those who are known.
func (r *Rates) ofCallers() bool { return r.Principal != nil || r.Service != nil || r.Account != nil }

// payment is what a request took of the rates of its caller.
type payment struct {
	// told is how the rate stands that leaves less, nil where the caller is held to none; refused
	// is the one that refuses the request, "" where none does.
	told    *ratelimit.Verdict
	refused string
}

// charge takes a token of the caller's, and then one of their account's: who is refused
// takes nothing of that. It is done once for each request.
func (r *Rates) charge(ctx context.Context, caller *resources.Principal) payment {
	var told *ratelimit.Verdict
	own, name := r.Principal, LimitPrincipal
	if caller.Kind == resources.PrincipalService {
		own, name = r.Service, LimitService
	}
	var until time.Time // is that of both: a request waits once
	if own != nil {
		until = own.Until()
		v := own.Take(ctx, caller.ID, until)
		if !v.Allowed {
			return payment{&v, name}
		}
		told = &v
	}
	if r.Account == nil || caller.AccountID == "" {
		return payment{told, ""}
	}
	if own == nil {
		until = r.Account.Until()
	}
	v := r.Account.Take(ctx, caller.AccountID, until)
	if told == nil || !v.Allowed || v.Remaining < told.Remaining {
		told = &v
	}
	if !v.Allowed {
		return payment{told, LimitAccount}
	}
	return payment{told, ""}
}

// tellRate sets the headers with which a caller can pace themselves.
func tellRate(h *fasthttp.ResponseHeader, v *ratelimit.Verdict) {
	setHeader(h, "RateLimit-Limit", strconv.Itoa(v.Limit))
	setHeader(h, "RateLimit-Remaining", strconv.Itoa(v.Remaining))
	setHeader(h, "RateLimit-Reset", strconv.FormatInt(int64((v.Reset+time.Second-1)/time.Second), 10))
}

func tooMany(message string, v ratelimit.Verdict) error {
	return &resources.Error{Kind: resources.KindRateLimited, Message: message, RetryAfter: v.RetryAfter}
}

// Connections are how many are open now, and how many were refused until now: for all
// that may be open, and for those of one address.
func (e *Edge) Connections() (open int, refused, refusedOfAddress uint64) {
	refused, refusedOfAddress = e.open.Refused()
	return e.open.Open(), refused, refusedOfAddress
}

// Gates are what bounds the requests under way, by name: "requests", and each upstream's.
func (e *Edge) Gates() map[string]*gate.Gate {
	all := map[string]*gate.Gate{"requests": e.gate}
	for name, p := range e.serve.upstreams {
		all["upstream "+name] = p.gate
	}
	return all
}

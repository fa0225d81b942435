package gateway

import (
	"context"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/resources"
)

// Rates are the limits of callers; nil sets none. The credential says who the caller is, not a header. A service has no
// account: its questions about an account count for the service alone. So no account can use up the rate of another
// one, nor the service's.
type Rates struct {
	// Principal limits each user with their API keys; Service limits each service.
	Principal, Service *ratelimit.Limiter
	// Account limits all users of an account together.
	Account *ratelimit.Limiter
	// Failures limits the refused credentials of one address (of IPv6, one /64).
	Failures *ratelimit.Limiter
}

// Names of the rates that refuse a request (Record.Limited).
const (
	LimitPrincipal = "principal"
	LimitService   = "service"
	LimitAccount   = "account"
	LimitFailures  = "failures"
)

// ofFailures authenticates, unless too many credentials of the address were refused: 429, also for a
// cached one.
func (r *Rates) ofFailures(ctx context.Context, record *Record, address func() string, authenticate func() error) error {
	if r.Failures == nil {
		return authenticate()
	}
	if v := r.Failures.Peek(address()); !v.Allowed {
		record.Limited = LimitFailures
		return tooMany("Too many credentials from this address were refused; wait before sending another one.", v)
	}
	err := authenticate()
	if resources.IsKind(err, resources.KindBadCredential) {
		r.Failures.Take(ctx, address(), 1, time.Time{}) // it is not shared: nobody is asked
	}
	return err
}

// ofCaller takes so many requests from the rates of the caller and then of their account: 429. It
// returns the tighter of the two, nil if the caller has none.
func (r *Rates) ofCaller(ctx context.Context, record *Record, caller *resources.Principal, requests int) (*ratelimit.Verdict, error) {
	paid := r.charge(ctx, caller, requests, (*ratelimit.Limiter).Take)
	if record.Limited = paid.refused; record.Limited == "" {
		return paid.verdict, nil
	}
	return paid.verdict, tooMany("Too many requests; wait before sending another one.", *paid.verdict)
}

// ofCallers says whether authenticated callers have a rate.
func (r *Rates) ofCallers() bool { return r.Principal != nil || r.Service != nil || r.Account != nil }

// payment is what a request took from the rates of its caller.
type payment struct {
	// verdict is the tighter of the caller's rates, nil if the caller has none.
	verdict *ratelimit.Verdict
	// refused names the rate that refused the request, "" for none.
	refused string
}

// taking takes requests from a limiter: Take or Owe.
type taking func(limiter *ratelimit.Limiter, ctx context.Context, caller string, requests int, deadline time.Time) ratelimit.Verdict

// charge takes so many requests from the caller's rate and then from their account's, all or none of
// each. A caller whose own rate refuses takes nothing from the account's.
func (r *Rates) charge(ctx context.Context, caller *resources.Principal, requests int, take taking) payment {
	var verdict *ratelimit.Verdict
	limiter, name := r.Principal, LimitPrincipal
	if caller.Kind == resources.PrincipalService {
		limiter, name = r.Service, LimitService
	}
	var until time.Time // is that of both: a request waits once
	if limiter != nil {
		until = limiter.Deadline()
		v := take(limiter, ctx, caller.ID, requests, until)
		if !v.Allowed {
			return payment{&v, name}
		}
		verdict = &v
	}
	if r.Account == nil || caller.AccountID == "" {
		return payment{verdict, ""}
	}
	if limiter == nil {
		until = r.Account.Deadline()
	}
	v := take(r.Account, ctx, caller.AccountID, requests, until)
	if verdict == nil || !v.Allowed || v.Remaining < verdict.Remaining {
		verdict = &v
	}
	if !v.Allowed {
		return payment{verdict, LimitAccount}
	}
	return payment{verdict, ""}
}

// tellRate sets the headers by which a client paces itself.
func tellRate(h *fasthttp.ResponseHeader, v *ratelimit.Verdict) {
	h.Set("RateLimit-Limit", strconv.Itoa(v.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(v.Remaining))
	h.Set("RateLimit-Reset", strconv.FormatInt(int64((v.Reset+time.Second-1)/time.Second), 10))
}

func tooMany(message string, v ratelimit.Verdict) error {
	return &resources.Error{Kind: resources.KindRateLimited, Message: message, RetryAfter: v.RetryAfter}
}

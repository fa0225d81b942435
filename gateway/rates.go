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

// ofCallers says whether authenticated callers have a rate.
func (r *Rates) ofCallers() bool { return r.Principal != nil || r.Service != nil || r.Account != nil }

// charge takes so many requests from the caller's rate and then from their account's, all or none of each; owed ones were
// answered already. A caller whose own rate refuses takes nothing from the account's. It returns the tighter of the two
// verdicts, nil if the caller has no rate, and names the rate that refused, "" for none.
func (r *Rates) charge(ctx context.Context, caller *resources.Principal, requests int, owed bool) (verdict *ratelimit.Verdict, refused string) {
	take := (*ratelimit.Limiter).Take
	if owed {
		take = (*ratelimit.Limiter).Owe
	}
	limiter, name := r.Principal, LimitPrincipal
	if caller.Kind == resources.PrincipalService {
		limiter, name = r.Service, LimitService
	}
	var until time.Time // is that of both: a request waits once
	if limiter != nil {
		until = limiter.Deadline()
		v := take(limiter, ctx, caller.ID, requests, until)
		if !v.Allowed {
			return &v, name
		}
		verdict = &v
	}
	if r.Account == nil || caller.AccountID == "" {
		return verdict, ""
	}
	if limiter == nil {
		until = r.Account.Deadline()
	}
	v := take(r.Account, ctx, caller.AccountID, requests, until)
	if verdict == nil || !v.Allowed || v.Remaining < verdict.Remaining {
		verdict = &v
	}
	if !v.Allowed {
		return verdict, LimitAccount
	}
	return verdict, ""
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

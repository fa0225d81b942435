package gateway

import (
	"cmp"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// identify finds out who calls, unless too many credentials of the client's address were refused: 401,
// 429. The calls of this process are for users at any address, and so are not counted. Neither are tokens of an issuer
// without keys: nothing is known against them.
func (e *Edge) identify(x *exchange) error {
	failures := e.cfg.Rates.Failures
	if x.public || failures == nil || x.isInside() {
		return e.authenticate(x)
	}
	if v := failures.Peek(x.address()); !v.Allowed { // also for a cached credential
		x.record.Limited = LimitFailures
		return tooMany("Too many credentials from this address were refused; wait before sending another one.", v)
	}
	err := e.authenticate(x)
	if resources.IsKind(err, resources.KindBadCredential) && authn.ReasonOf(err) != authn.ReasonNoKeys {
		failures.Take(x.ctx, x.address(), 1, time.Time{}) // it is not shared: nobody is asked
	}
	return err
}

// authenticate finds out who calls. A public call takes an anonymous caller.
func (e *Edge) authenticate(x *exchange) error {
	x.principal = resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}
	if x.public {
		return nil
	}
	authorization, apiKey, err := x.credentials()
	if err != nil {
		return err
	}
	principal, err := e.principal(x, authorization, apiKey)
	if err != nil {
		return err
	}
	x.principal = principal
	x.record.Principal, x.record.KeyID = principal.ID, principal.KeyID
	x.lifetime.useTurnsOf(turnsOf(&principal))
	if err := x.share(); err != nil {
		return err
	}
	return x.checkClaims()
}

// principal returns the principal of the credentials. A protected resource takes a token for itself alone.
func (e *Edge) principal(x *exchange, authorization, apiKey []string) (resources.Principal, error) {
	switch {
	case x.resource == nil:
		return e.cfg.Authn.Authenticate(x.ctx, authorization, apiKey)
	case len(apiKey) > 0:
		return resources.Principal{}, &resources.Error{Kind: resources.KindBadCredential, Message: "API keys are not taken here; send a token for this resource."}
	}
	return e.cfg.Authn.AuthenticateFor(x.ctx, x.resource.URL, x.resource.AgentsOf, authorization)
}

// address returns the address of the client.
func (x *exchange) address() string {
	if x.foreign != nil {
		return listen.PeerOf(x.foreign.Peer).String()
	}
	return addressOf(x.raw)
}

// credentials returns the values of the credential's headers: 400 for what two servers could read differently.
func (x *exchange) credentials() (authorization, apiKey []string, err error) {
	if c := x.foreign; c != nil {
		if len(c.CredentialProblems) > 0 {
			err = resources.BadRequest(c.CredentialProblems...)
		}
		return c.Authorization, c.APIKey, err
	}
	for _, name := range []string{"authorization", "x-api-key"} {
		if x.headers.ambiguous(name) {
			return nil, nil, resources.BadRequest(resources.Problem{Field: name, Text: sentOnce})
		}
	}
	h := &x.raw.Request.Header
	return sent(h, "Authorization", x.room.authorization[:]...), sent(h, "X-API-Key", x.room.apiKey[:]...), nil
}

// turnsOf returns whose turns the work for the caller takes: a user's or an agent's account's, whichever they ask about. A
// service has none of its own.
func turnsOf(caller *resources.Principal) string {
	if caller.Kind != resources.PrincipalUser && caller.Kind != resources.PrincipalAgent {
		return ""
	}
	return cmp.Or(caller.AccountID, caller.ID)
}

// checkClaims compares the identity headers of a route that wants them with the path and the caller:
// another account or another user is 401 (specification, E1 and E2). A header that was sent twice is
// a 400 of a later step.
func (x *exchange) checkClaims() error {
	if x.entry == nil || !x.entry.Route.Claims {
		return nil
	}
	h := &x.raw.Request.Header
	account, user := sent(h, "X-Account-ID"), sent(h, "X-User-ID")
	var problems []resources.Problem
	if named := x.params()[route.ParamAccount]; named == "" || len(account) == 0 || len(account) == 1 && account[0] != named {
		problems = append(problems, resources.Problem{Field: "X-Account-ID", Text: "must be sent and be the account of the path"})
	}
	if len(user) == 1 && user[0] != x.principal.ID {
		problems = append(problems, resources.Problem{Field: "X-User-ID", Text: "must be the caller"})
	}
	if len(problems) > 0 {
		return &resources.Error{
			Kind: resources.KindNoCredential, Message: "The identity headers do not fit the path and the caller.", Problems: problems,
		}
	}
	return nil
}

// limit holds the caller and then their account to their rates: 429.
func (e *Edge) limit(x *exchange) error {
	if x.public {
		return nil
	}
	return e.charge(x, 1)
}

// charge takes so many requests from the caller's rates: 429.
func (e *Edge) charge(x *exchange, requests int) error {
	if !e.cfg.Rates.ofCallers() {
		return nil
	}
	x.rated, x.record.Limited = e.cfg.Rates.charge(x.ctx, &x.principal, requests, false)
	x.tellRated()
	if x.record.Limited != "" {
		return tooMany("Too many requests; wait before sending another one.", *x.rated)
	}
	return nil
}

// tellRated sets the headers of the caller's rates.
func (x *exchange) tellRated() {
	if x.rated != nil && x.raw != nil {
		tellRate(&x.raw.Response.Header, x.rated)
	}
}

// Charge implements doors.Rates. It says where waiting would never help.
func (x *exchange) Charge(further int) error {
	err := x.edge.charge(x, further)
	if err != nil && further >= x.rated.Limit {
		return tooMany(fmt.Sprintf("This call counts as %d requests, and the caller's rate allows at most %d at once: ask for less in one call.",
			further+1, x.rated.Limit), *x.rated)
	}
	return err
}

// Owe implements doors.Rates.
func (x *exchange) Owe(further int) {
	if rates := &x.edge.cfg.Rates; further > 0 && rates.ofCallers() {
		x.rated, _ = rates.charge(x.ctx, &x.principal, further, true)
		x.tellRated()
	}
}

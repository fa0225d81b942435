package original

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Judge judges original calls. All of its fields are needed. It is safe for concurrent use.
type Judge struct {
	Verdicts *verdict.Judge
	Calls    *Calls
	// Assertions vouch for callers to the audiences of rows.
	Assertions *assertion.Keys
}

// Question is whether the caller may make an original call.
type Question struct {
	Request
	// HasQuery says that the call has a ?, Query is what follows it. Neither is part of the question.
	HasQuery bool
	Query    string
	Caller   resources.Principal
	// Headers are the call's. Those that name a user, an account or an action are claims.
	Headers doors.Headers
	// RequestID is the call's id.
	RequestID string
	// Named is what the proxy's own configuration says, in place of a row.
	Named Named
	// Problems are those of the request, by which no row can be looked up; Further are those of the rest of the call.
	Problems, Further []resources.Problem
}

// Answer is the verdict about a question.
type Answer struct {
	// Headers are what the service may rely on, where the call is allowed: all of the identity
	// headers, "" where there is no value, so that they replace what a client sent under these names.
	Headers []doors.Header
	// Asked and Verdict are what is known of the question and of the verdict, also beside an error.
	Asked   verdict.Question
	Verdict verdict.Verdict
}

// Open says whether the call is for anybody, so that no credential has to be looked at.
func (j *Judge) Open(q Question) bool {
	return len(q.Problems) == 0 && q.Named.Action.ID == "" && j.Calls.Public(q.Request)
}

// Judge has the call judged. Errors are *resources.Error: KindBadRequest with all problems,
// KindNotFound where no row is for the call, KindNoCredential, KindForbidden with the reason, and
// KindUnavailable.
func (j *Judge) Judge(ctx context.Context, q Question) (Answer, error) {
	claims, problems := readClaims(q.Headers)
	problems = slices.Concat(problems, q.Problems, q.Further)
	call, err := j.find(q)
	if resources.IsKind(err, resources.KindBadRequest) && (q.Path != "" || len(problems) == 0) {
		problems = append(problems, resources.AsError(err).Problems...)
	}
	anonymous := q.Caller.Kind == resources.PrincipalNone
	noRow := len(q.Problems) == 0 && resources.IsKind(err, resources.KindNotFound)
	switch {
	case len(problems) > 0 && !noRow:
		return Answer{}, resources.BadRequest(problems...)
	case anonymous && (err != nil || !call.Route.Public): // which rows there are is told to callers alone
		return Answer{}, &resources.Error{Kind: resources.KindNoCredential, Message: "This needs a credential."}
	case err != nil:
		return Answer{}, err
	}
	caller := q.Caller
	if call.Route.Public { // as at the edge, which looks at no credential there, and at no claim about its holder
		caller = resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}
		if call.AccountID = call.Target.AccountID; call.AccountID == "" {
			delete(claims, "X-Account-ID")
		}
		delete(claims, "X-User-ID")
	}
	a := Answer{Asked: verdict.Question{SubjectID: caller.ID, AccountID: call.AccountID, Action: call.Route.Action, Target: call.Target}}
	if problems := claims.against(a.Asked); len(problems) > 0 {
		return a, resources.BadRequest(problems...)
	}
	if a.Verdict, err = j.Verdicts.EnterAndSay(ctx, caller, call); err != nil {
		return a, err
	}
	a.Headers, err = j.headers(q, caller, call)
	return a, err
}

// headers returns what the service may rely on.
func (j *Judge) headers(q Question, caller resources.Principal, call verdict.Call) ([]doors.Header, error) {
	kind := ""
	if caller.Kind != resources.PrincipalNone {
		kind = caller.Kind
	}
	out := []doors.Header{
		{Name: "X-User-ID", Value: caller.ID},
		{Name: "X-Account-ID", Value: call.AccountID},
		{Name: "X-Action", Value: call.Route.Action.ID},
		{Name: "X-Principal-Kind", Value: kind},
		{Name: "X-Request-ID", Value: q.RequestID},
	}
	audience := call.Route.Row.Audience
	if audience == "" {
		return out, nil
	}
	target := q.Path
	if q.HasQuery {
		target += "?" + q.Query
	}
	key, _ := q.Headers.Identity("Idempotency-Key")
	token, err := j.Assertions.Sign(assertion.Statement{
		Upstream: audience, RequestID: q.RequestID, Method: q.Method, Target: target, IdempotencyKey: key, BodyUnknown: true,
		Principal: caller, Account: call.AccountID, Action: call.Route.Action.ID,
	})
	if err != nil {
		return nil, err
	}
	return append(out, doors.Header{Name: assertion.Header, Value: token}), nil
}

// claims are what a call says of its caller, by the header's name.
type claims map[string]string

// readClaims reads the claims that were sent. It refuses each identity header that two servers could read differently,
// also a credential that nobody looks at.
func readClaims(h doors.Headers) (claims, []resources.Problem) {
	out := claims{}
	var problems []resources.Problem
	for _, name := range [...]string{"X-User-ID", "X-Account-ID", "X-Action", "Authorization", "X-API-Key", "Idempotency-Key"} {
		value, problem := h.Identity(name)
		if problem != "" {
			problems = append(problems, resources.Problem{Field: name, Text: problem})
		} else if value != "" {
			out[name] = value
		}
	}
	return out, problems
}

// against returns the claims that contradict what the gateway knows.
func (c claims) against(asked verdict.Question) (problems []resources.Problem) {
	for _, is := range [...]struct{ name, value, text string }{
		{"X-User-ID", asked.SubjectID, "must be the caller, or not be sent"},
		{"X-Account-ID", asked.AccountID, "must be the account of the path, else the caller's own, or not be sent"},
		{"X-Action", asked.Action.ID, "must be the action of the call, or not be sent"},
	} {
		if claimed, sent := c[is.name]; sent && claimed != is.value {
			problems = append(problems, resources.Problem{Field: is.name, Text: is.text})
		}
	}
	return problems
}

package gateway

import (
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// askedAbout notes the call of somebody else that is asked about. It decides whether a credential is looked at.
func (x *exchange) askedAbout(o *doors.Original) {
	x.original, x.record.Original, x.public = o, o.Call, o.Public(x.table.Index)
}

// answerProxy has somebody else's call judged as one to the gateway, and answers with the identity headers for the
// service behind the proxy. Errors: 400 with all problems, 401, 404 without a row for the call, 403 with the reason,
// 503. Only callers learn which rows exist.
func (e *Edge) answerProxy(x *exchange) error {
	o := x.original
	if o == nil {
		return nil
	}
	x.answered = true
	if x.foreign != nil && x.foreign.Refused != "" {
		return resources.Denied(x.foreign.Refused)
	}
	claims, problems := readClaims(o.Headers)
	problems = slices.Concat(problems, o.Problems, o.Further)
	if problem := x.consistencyProblem(); problem != "" {
		problems = append(problems, resources.Problem{Field: headerConsistency, Text: problem})
	}
	match, err := o.Find(x.table.Index)
	if resources.IsKind(err, resources.KindBadRequest) && (o.Path != "" || len(problems) == 0) {
		problems = append(problems, resources.AsError(err).Problems...)
	}
	noRow := len(o.Problems) == 0 && resources.IsKind(err, resources.KindNotFound)
	switch {
	case len(problems) > 0 && !noRow:
		return resources.BadRequest(problems...)
	case x.principal.Kind == resources.PrincipalNone && (err != nil || !match.Public):
		return &resources.Error{Kind: resources.KindNoCredential, Message: "This needs a credential."}
	case err != nil:
		return err
	}
	x.match, x.account = match, x.principal.AccountID
	if problems := claims.contradictions(x.question(), match.Public); len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	if err := e.authorize(x); err != nil {
		return err
	}
	return x.vouch()
}

// vouch answers with every identity header, "" without a value, and so replaces what a client sent under these names.
func (x *exchange) vouch() error {
	kind := ""
	if x.principal.Kind != resources.PrincipalNone {
		kind = x.principal.Kind
	}
	headers := []doors.Header{
		{Name: "X-User-ID", Value: x.principal.ID},
		{Name: "X-Account-ID", Value: x.record.Account},
		{Name: "X-Action", Value: x.record.Action},
		{Name: "X-Principal-Kind", Value: kind},
		{Name: "X-Request-ID", Value: x.record.RequestID},
	}
	if audience := x.match.Route.Audience; audience != "" {
		target := x.original.Path
		if x.original.HasQuery {
			target += "?" + x.original.Query
		}
		key, _ := x.original.Headers.Identity("Idempotency-Key")
		token, err := x.edge.cfg.Assertions.Sign(assertion.Statement{
			Upstream: audience, RequestID: x.record.RequestID, Method: x.original.Method, Target: target, IdempotencyKey: key, BodyUnknown: true,
			Principal: x.principal, Account: x.record.Account, Action: x.record.Action,
		})
		if err != nil {
			return err
		}
		headers = append(headers, doors.Header{Name: assertion.Header, Value: token})
	}
	if x.raw == nil {
		x.vouched = headers
		return nil
	}
	for _, h := range headers {
		x.raw.Response.Header.Set(h.Name, h.Value)
	}
	send(x.raw, 200, []byte("{}"))
	return nil
}

// claims are what a call says of its caller, by the header's name.
type claims map[string]string

// readClaims reads the claims as sent. It refuses an identity header if two servers could read it differently, also an
// unused credential.
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

// contradictions returns the claims that contradict what the gateway knows. On a public call it looks at no claim about the holder of
// a credential, as at the edge.
func (c claims) contradictions(q resources.Question, public bool) (problems []resources.Problem) {
	if public {
		delete(c, "X-User-ID")
		if q.AccountID == "" {
			delete(c, "X-Account-ID")
		}
	}
	for _, is := range [...]struct{ name, value, text string }{
		{"X-User-ID", q.SubjectID, "must be the caller, or not be sent"},
		{"X-Account-ID", q.AccountID, "must be the account of the path, else the caller's own, or not be sent"},
		{"X-Action", q.Action.ID, "must be the action of the call, or not be sent"},
	} {
		if claimed, sent := c[is.name]; sent && claimed != is.value {
			problems = append(problems, resources.Problem{Field: is.name, Text: is.text})
		}
	}
	return problems
}

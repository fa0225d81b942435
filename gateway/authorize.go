package gateway

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// verdict is E3's whole answer.
type verdict struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
}

// appendVerdict appends the answer's JSON; a credential in the reason is masked.
func appendVerdict(to []byte, v verdict) ([]byte, error) {
	v.Reason = resources.MaskCredentials(v.Reason)
	if !wire.Plain(v.Reason) {
		body, err := wire.Render(v)
		return append(to, body...), err
	}
	to = strconv.AppendBool(append(to, `{"allowed":`...), v.Allowed)
	to = append(append(to, `,"reason":"`...), v.Reason...)
	return append(to, `"}`...), nil
}

// readQuestion reads E3's question from its path and headers: 400 with all problems.
func (e *Edge) readQuestion(x *exchange) error {
	var problems []resources.Problem
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }

	path := x.values[len(x.values)-1]
	for _, text := range route.PathProblems(path) {
		note("path", text)
	}
	if x.hasQuery {
		note("path", "holds a ?; a query is not part of what is authorized")
	}
	var target resources.Target
	if len(problems) == 0 {
		var problem string
		if target, problem = route.ParseTarget(path); problem != "" {
			note("path", problem)
		}
	}
	h := &x.raw.Request.Header
	var values [3]string
	own(values[:], h.PeekCanonical([]byte("X-User-Id")), h.PeekCanonical([]byte("X-Account-Id")), h.PeekCanonical([]byte("X-Action")))
	for i, header := range [...]struct{ name, counted string }{{"X-User-ID", "x-user-id"}, {"X-Account-ID", "x-account-id"}, {"X-Action", "x-action"}} {
		switch {
		case x.headers.ambiguous(header.counted):
			note(header.name, sentOnce)
		case values[i] == "":
			note(header.name, "is missing")
		}
	}
	subject, account, action := values[0], values[1], values[2]
	if subject != "" && !resources.ValidID(subject) {
		note("X-User-ID", "must be 1 to 128 characters of [A-Za-z0-9._@-]")
	}
	if account != "" && !resources.ValidID(account) {
		note("X-Account-ID", "must be 1 to 128 characters of [A-Za-z0-9._@-]")
	}
	if problem := x.consistencyProblem(); problem != "" {
		note(headerConsistency, problem)
	}
	parsed, err := resources.ParseAction(action)
	if err != nil && action != "" {
		note("X-Action", err.Error())
	}
	if len(x.body) > 0 || x.headers.encoded {
		note("body", "must be empty; everything is in the path and the headers")
	}
	if len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	x.ask = ask{target: target, account: account, subject: subject, action: parsed}
	return nil
}

// decide answers E3 from policy's decision.
func (e *Edge) decide(x *exchange) error {
	// From here on the record is about the answer, not about the right to ask.
	x.record.Action, x.record.Subject = x.ask.action.ID, x.ask.subject
	asking := x.record.PolicyRevision
	x.record.Allowed, x.record.Reason, x.record.PolicyRevision = false, "", ""
	facts, err := e.cfg.Facts.Facts(x.ctx, x.ask.account, x.ask.subject, x.ask.target.ProjectID)
	if err != nil {
		return asUnavailable(err)
	}
	now := resources.At(e.cfg.Now())
	decision, err := e.cfg.Policy.Decide(x.ctx, resources.Question{
		Principal: x.principal, Action: x.ask.action, AccountID: x.ask.account, Facts: facts,
		Target: x.ask.target, Route: x.entry.Route, Now: now,
	})
	if err != nil {
		return asUnavailable(err)
	}
	if x.record.DecisionID = x.decisionID; x.decisionID == "" {
		x.record.DecisionID = e.cfg.IDs.ULID()
	}
	x.record.Allowed, x.record.Reason, x.record.PolicyRevision = decision.Allowed, decision.Reason, decision.PolicyRevision

	var room [256]byte
	body, err := appendVerdict(room[:0], verdict{Allowed: decision.Allowed, Reason: decision.Reason})
	if err != nil {
		return err
	}
	x.record.Status = e.sendVerdict(x.raw, &x.record, facts.Revision)
	x.raw.Response.SetBody(body)
	if x.rests = x.rests.also(facts.Stamp(x.ask.account), now, decision.Until); asking == decision.PolicyRevision {
		e.remember(x, body)
	}
	return nil
}

// sendVerdict sends E3's answer but for its body, and gives its status.
func (e *Edge) sendVerdict(raw *fasthttp.RequestCtx, r *Record, revision int64) int {
	h := &raw.Response.Header
	setHeader(h, "X-Decision-Id", r.DecisionID)
	setHeader(h, "X-Policy-Revision", r.PolicyRevision)
	var number [20]byte
	h.SetCanonical([]byte("X-Account-Revision"), strconv.AppendInt(number[:0], revision, 10))
	status := 200
	if !r.Allowed {
		status = e.cfg.DenyStatus
	}
	sendHead(raw, status)
	return status
}

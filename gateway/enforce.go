package gateway

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// ask is what policy is asked about a request, as its path and headers say it.
type ask struct {
	target resources.Target
	// account is the account in question.
	account string
	// subject and action are E3's: about whom and what.
	subject string
	action  resources.Action
}

// params are a route's path parameters by name.
func (x *exchange) params() map[string]string {
	out := make(map[string]string, len(x.values))
	for i, value := range x.values[:min(len(x.values), len(x.entry.pattern.Params))] {
		out[x.entry.pattern.Params[i]] = value
	}
	return out
}

// paramProblems are those of the path's parameters.
func (x *exchange) paramProblems(params map[string]string) (out []resources.Problem) {
	for i, name := range x.entry.pattern.Params {
		switch form := x.entry.pattern.Forms[i]; {
		case form != "" && !resources.ValidExternalID(form, params[name]):
			out = append(out, resources.Problem{Field: name, Text: "must match ^" + form + "-[a-zA-Z0-9]+-v1$"})
		case !resources.ValidID(params[name]):
			out = append(out, resources.Problem{Field: name, Text: "must be 1 to 128 characters of [A-Za-z0-9._@-]"})
		}
	}
	return out
}

// checkHeaders holds the path and the identity headers to the contract: 400 with all
// problems.
func (e *Edge) checkHeaders(x *exchange) error {
	if x.entry.answers {
		return e.readQuestion(x)
	}
	var problems []resources.Problem
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }

	for _, text := range route.PathProblems(strings.TrimPrefix(x.path, "/")) {
		note("path", text)
	}
	params := x.params()
	problems = append(problems, x.paramProblems(params)...)
	var target resources.Target
	if len(x.values) > 0 && len(problems) == 0 { // a path without parameters names no account or project
		var problem string
		if target, problem = route.ParseTarget(strings.TrimPrefix(x.path, "/")); problem != "" {
			note("path", problem)
		}
	}
	if strings.Contains(x.query, "#") {
		note("query", "holds a #, at which some servers end it")
	}
	for _, name := range identityHeaders {
		if name != countedConsistency && x.headers.ambiguous(name) {
			note(name, sentOnce)
		}
	}
	if problem := x.consistencyProblem(); problem != "" {
		note(headerConsistency, problem)
	}
	var account string
	if len(problems) == 0 || len(x.values) == 0 { // else it is not known whether the path names one
		var problem string
		if account, problem = x.account(target); problem != "" {
			note("X-Account-ID", problem)
		}
	}
	if len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	x.ask = routeAsk(x, target, account, params)
	return nil
}

// headerConsistency asks for the strict path for one request (API contract, 6).
const (
	headerConsistency  = "X-Consistency"
	countedConsistency = "x-consistency"
)

// consistencyProblem refuses what may have been meant as strict.
func (x *exchange) consistencyProblem() string {
	switch {
	case x.headers.ambiguous(countedConsistency):
		return sentOnce
	case x.consistency && string(x.raw.Request.Header.Peek(headerConsistency)) != resources.ConsistencyStrict:
		return "must be " + resources.ConsistencyStrict + ", or not be sent"
	}
	return ""
}

// account is whose request it is: the path's account; where the path names none, the
// caller's own, but for an account action, which names its account in a header that
// policy then judges.
func (x *exchange) account(target resources.Target) (account, problem string) {
	if target.AccountID != "" {
		return target.AccountID, ""
	}
	if x.entry.action.Scope != resources.ScopeAccount {
		return x.principal.AccountID, ""
	}
	named := string(x.raw.Request.Header.Peek("X-Account-ID"))
	switch {
	case named == "" && x.principal.Kind == resources.PrincipalUser:
		return "", "is missing"
	case named != "" && !resources.ValidID(named):
		return "", "must be 1 to 128 characters of [A-Za-z0-9._@-]"
	}
	return named, ""
}

// routeAsk makes the question of an ordinary route. An account action is judged in
// the account, also where the path goes on to one of its projects (N4).
func routeAsk(x *exchange, target resources.Target, account string, params map[string]string) ask {
	if x.entry.action.Scope == resources.ScopeAccount {
		target.ProjectID, target.Resource = "", ""
	}
	target.UserID = params["userId"] + params["user_id"]
	return ask{target: target, account: account, action: x.entry.action}
}

// authorize asks policy whether the caller may make this request: 403 or 503.
func (e *Edge) authorize(x *exchange) error {
	now := resources.At(e.cfg.Now())
	q := resources.Question{
		Principal: x.principal, Action: x.entry.action, AccountID: x.ask.account,
		Target: x.ask.target, Route: x.entry.Route, Now: now,
	}
	if x.entry.answers { // may they ask? the question itself comes after
		q.Target = resources.Target{UserID: x.ask.subject}
	}
	x.record.Action, x.record.Account = q.Action.ID, q.AccountID
	if !x.entry.public {
		caller := x.principal.ID
		if x.principal.Kind != resources.PrincipalUser {
			caller = ""
		}
		facts, err := e.cfg.Facts.Facts(x.ctx, q.AccountID, caller, q.Target.ProjectID)
		if err != nil {
			return asUnavailable(err)
		}
		q.Facts = facts
	}
	decision, err := e.cfg.Policy.Access(x.ctx, q)
	if err != nil {
		return asUnavailable(err)
	}
	x.record.Allowed, x.record.Reason, x.record.PolicyRevision = decision.Allowed, decision.Reason, decision.PolicyRevision
	x.rests = x.rests.also(q.Facts.Stamp(q.AccountID), q.Now, decision.Until)
	if !decision.Allowed {
		return &resources.Error{
			Kind: resources.KindForbidden, Message: "You may not do this.",
			Problems: []resources.Problem{{Text: decision.Reason}},
		}
	}
	return nil
}

package gateway

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// find looks up the route: 404, 405.
func (e *Edge) find(x *exchange) error {
	t := e.routes.Load()
	x.table = t
	m := t.Served(x.host(t), x.method, x.path, x.room.values[:0])
	switch {
	case m.Row != nil:
		if !x.findResource(t.entries[m.Number].protected) {
			return nothingHere()
		}
		x.entry, x.match = t.entries[m.Number], m
		x.record.Route, x.record.Template, x.public = m.Route.Name, m.Route.Path, m.Public
		if x.entry.anyRequestID {
			x.keepRequestID()
		}
		if x.entry.asked != nil {
			asked := x.entry.asked(x.doorCall())
			x.askedAbout(&asked)
		}
		return nil
	case len(m.Allow) > 0:
		methods := strings.Join(m.Allow, ", ")
		x.raw.Response.Header.Set("Allow", methods)
		return &resources.Error{Kind: resources.KindMethodNotAllowed, Message: "This path has the methods " + methods + "."}
	default:
		return nothingHere()
	}
}

func nothingHere() error {
	return &resources.Error{Kind: resources.KindNotFound, Message: "There is nothing at this path."}
}

// findResource looks up the resource of a protected door; false says that there is none.
func (x *exchange) findResource(door doors.Protected) bool {
	if door == nil {
		return true
	}
	r := door.ResourceOf(x.path)
	x.resource = &r
	return r.URL != ""
}

// params returns the path's parameters by name.
func (x *exchange) params() map[string]string { return x.match.Named(x.match.Values) }

// checkHeaders holds the path and the identity headers to the contract: 400 with all
// problems.
func (e *Edge) checkHeaders(x *exchange) error {
	target, problems := x.match.Read(x.path, x.match.Values)
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }
	if len(problems) == 0 { // else it is not known whether the path names an account
		var problem string
		if x.account, problem = x.accountInQuestion(target); problem != "" {
			note("X-Account-ID", problem)
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
	if len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	x.match.Place = target
	x.lifetime.useTurnsOf(x.account) // a service has none of its own
	return nil
}

// headerConsistency asks for facts that are read anew for this request (API contract, 6).
const (
	headerConsistency  = "X-Consistency"
	countedConsistency = "x-consistency"
)

// consistencyProblem returns the problem of a value that may have been meant as strict.
func (x *exchange) consistencyProblem() string {
	switch {
	case x.headers.ambiguous(countedConsistency):
		return sentOnce
	case x.consistency && string(x.raw.Request.Header.Peek(headerConsistency)) != resources.ConsistencyStrict:
		return "must be " + resources.ConsistencyStrict + ", or not be sent"
	}
	return ""
}

// accountInQuestion returns the account of the verdict: the path's, otherwise the caller's own. For an account action a
// header names it if the path does not, and policy judges it.
func (x *exchange) accountInQuestion(target resources.Target) (account, problem string) {
	if target.AccountID != "" {
		return target.AccountID, ""
	}
	if x.entry.Action.Scope != resources.ScopeAccount {
		return x.principal.AccountID, ""
	}
	named := string(x.raw.Request.Header.Peek("X-Account-ID"))
	switch {
	case named == "" && x.principal.Kind == resources.PrincipalUser:
		return "", "is missing"
	case named != "" && !resources.ValidID(named):
		return "", resources.IDRule
	}
	return named, ""
}

// question returns what policy is asked about the call. A call that somebody else asks about has its caller as subject.
func (x *exchange) question() resources.Question {
	q := x.match.Question(x.account, x.match.Place, x.match.Values)
	switch {
	case x.original != nil:
		q.SubjectID = x.principal.ID
	case x.match.Route.Spec != "":
		q.Through = "" // their handlers say what there is of a project
	}
	return q
}

// authorize has the call judged, for an agent that makes it, too: 403, 503.
func (e *Edge) authorize(x *exchange) error {
	agent, err := x.acting()
	if err != nil {
		return err
	}
	q := x.question()
	x.record.Action, x.record.Account, x.record.Subject = q.Action.ID, q.AccountID, q.SubjectID
	o := e.cfg.Judge.Enter(x.ctx, &x.principal, x.match.Row, q)
	x.judged(&o)
	x.ctx = resources.WithDecision(x.ctx, o.ID)
	if o.Err != nil {
		return o.Err
	}
	if err := e.holdTree(x, &o); err != nil || agent == nil {
		return err
	}
	return e.narrow(x, agent)
}

package e3

import (
	"context"
	"errors"
	"strconv"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Door answers E3.
type Door struct {
	Judge *verdict.Judge
	// DenyStatus is the status of a denied question: 200 or 403.
	DenyStatus int
}

// Answer implements doors.Door: 400 with all problems of the question, 403 for a caller who may not
// ask it, 503 where there is no verdict.
func (d Door) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	q, problems := read(c)
	if len(problems) > 0 {
		return doors.Answer{}, resources.BadRequest(problems...)
	}
	v, err := d.Judge.Ask(ctx, c.Caller, q)
	if err != nil {
		return doors.Answer{Question: q, Verdict: v}, err
	}
	a := doors.Answer{Status: 200, Body: render(v), Question: q, Verdict: v, Headers: []doors.Header{
		{Name: "X-Decision-ID", Value: v.ID},
		{Name: "X-Policy-Revision", Value: v.PolicyRevision},
		{Name: "X-Account-Revision", Value: strconv.FormatInt(v.AccountRevision, 10)},
	}}
	if v.BundleRevision != "" {
		a.Headers = append(a.Headers, doors.Header{Name: "X-Policy-Bundle-Revision", Value: v.BundleRevision})
	}
	if !v.Allowed {
		a.Status = d.DenyStatus
	}
	return a, nil
}

// read reads the question from the path and the headers, with all of its problems.
func read(c doors.Call) (verdict.Question, []resources.Problem) {
	problems := c.Problems
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }
	target, texts := readPath(c)
	for _, text := range texts {
		note("path", text)
	}
	identity := func(name string) string {
		value, problem := c.Headers.Identity(name)
		switch {
		case problem != "":
			note(name, problem)
		case value == "":
			note(name, "is missing")
		}
		return value
	}
	subject, account, named := identity("X-User-ID"), identity("X-Account-ID"), identity("X-Action")
	for _, id := range [...]struct{ name, value string }{{"X-User-ID", subject}, {"X-Account-ID", account}} {
		if id.value != "" && !resources.ValidID(id.value) {
			note(id.name, resources.IDRule)
		}
	}
	action, err := resources.ParseAction(named)
	if err != nil && named != "" {
		note("X-Action", err.Error())
	}
	if len(c.Body) > 0 || c.Encoded {
		note("body", "must be empty; everything is in the path and the headers")
	}
	return verdict.Question{Door: c.Route, SubjectID: subject, AccountID: account, Action: action, Target: target}, problems
}

// readPath reads the place, or gives what is wrong with the path.
func readPath(c doors.Call) (resources.Target, []string) {
	problems := route.PathProblems(c.Path)
	if c.HasQuery {
		problems = append(problems, "holds a ?; a query is not part of what is authorized")
	}
	if len(problems) > 0 {
		return resources.Target{}, problems
	}
	target, problem := route.ParseTarget(c.Path)
	if problem != "" {
		return resources.Target{}, []string{problem}
	}
	return target, nil
}

// render renders the answer's JSON. A credential in the reason is masked.
func render(v verdict.Verdict) []byte {
	const around = len(`{"allowed":false,"reason":""}`)
	reason := resources.MaskCredentials(v.Reason)
	body := strconv.AppendBool(append(make([]byte, 0, around+len(reason)), `{"allowed":`...), v.Allowed)
	return append(wire.AppendString(append(body, `,"reason":`...), reason), '}')
}

// Unavailable implements doors.Door: it denies, and says which bound of policy the question met, or
// that something which is asked for a verdict does not answer.
func (Door) Unavailable(err error) []byte {
	reason := "authorization state unavailable"
	for _, bound := range []error{resources.ErrPolicyTime, resources.ErrPolicyMemory} {
		if errors.Is(err, bound) {
			reason = bound.Error()
		}
	}
	return render(verdict.Verdict{Decision: resources.Decision{Reason: reason}})
}

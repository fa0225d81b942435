package original

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Named is what the configuration of a proxy says of a call; no client can.
type Named struct {
	// Action is what the call does; the zero value is the row's. With one, no row is needed.
	Action resources.Action
	// Audience is the service that the assertion is for; "" is the row's.
	Audience string
}

// find returns the call of the question: its row's, or that of the action which is named.
func (j *Judge) find(q Question) (verdict.Call, error) {
	var call verdict.Call
	var err error
	if q.Named.Action.ID == "" {
		call, err = j.Calls.Find(q.Request, q.Caller.AccountID)
	} else {
		call, err = q.named()
	}
	if err != nil || q.Named.Audience == "" {
		return call, err
	}
	of := *call.Route
	of.Row.Audience = q.Named.Audience
	call.Route = &of
	return call, nil
}

// named returns the call of the action that the configuration of the proxy names, at the place that the path says. No row
// is looked for. The account is the one in the path, else the caller's.
func (q Question) named() (verdict.Call, error) {
	problems := q.problems()
	path := strings.TrimPrefix(q.Path, "/")
	for _, text := range route.PathProblems(path) {
		problems = append(problems, resources.Problem{Field: "path", Text: text})
	}
	if len(problems) > 0 {
		return verdict.Call{}, resources.BadRequest(problems...)
	}
	target, problem := route.ParseTarget(path)
	if problem != "" {
		return verdict.Call{}, resources.BadRequest(resources.Problem{Field: "path", Text: problem})
	}
	of := &verdict.Route{Action: q.Named.Action, Row: resources.Route{
		Name: resources.RouteNamed, Method: q.Method, Path: q.Path, Action: q.Named.Action.ID, Upstream: resources.UpstreamExternal,
	}}
	return of.Call(q.Caller.AccountID, target, nil), nil
}

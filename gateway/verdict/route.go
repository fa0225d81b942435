package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// NewRoute parses the action of a row.
func NewRoute(row resources.Route) (Route, error) {
	r := Route{Row: row, Public: slices.Contains(row.Access, "public")}
	if row.Action == "" {
		return r, nil
	}
	var err error
	if r.Action, err = resources.ParseAction(row.Action); err != nil {
		return Route{}, fmt.Errorf("action %w", err)
	}
	return r, nil
}

// Call returns the call of a path that names this place. The account in question is the path's, else own. The parameters
// are the path's; the user in question is {userId}, else {user_id}.
func (r *Route) Call(own string, named resources.Target, params map[string]string) Call {
	call := Call{Route: r, AccountID: cmp.Or(named.AccountID, own), Target: named}
	call.Target.UserID = cmp.Or(params["userId"], params["user_id"])
	if r.Action.Scope == resources.ScopeAccount {
		call.Target.ProjectID, call.Through = "", named.ProjectID
	}
	return call
}

// The denial of an account action on a path to a project that is not an active one of the account. Policy gives the same
// for an action of the project.
const (
	codeNotActive   = "needs_active_project"
	reasonNotActive = "the project is not an active project of the account"
)

// takeState takes the state of the project from the facts of a question that does not name it.
func takeState(project string, q *resources.Question) (state string) {
	if project != "" {
		state, q.Facts.ProjectState = q.Facts.ProjectState, ""
	}
	return state
}

// through denies what policy allows in an account where the path goes on to this project, "" for none, and the project is
// not an active one. It comes after policy, so that nobody else learns which projects there are. The question is then that
// of the project.
func (v *Verdict) through(project, state string, q *resources.Question) {
	if project == "" || !v.Allowed || state == resources.ProjectActive {
		return
	}
	v.Allowed, v.Code, v.Reason, v.unasked = false, codeNotActive, reasonNotActive, true
	q.Target.ProjectID, q.Facts.ProjectState = project, state
}

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

// Place returns the place that policy judges. An account action is judged in the account, also where
// the path goes on to one of its projects. The parameters are the path's; the user in question is
// {userId}, else {user_id}.
func (r *Route) Place(target resources.Target, params map[string]string) resources.Target {
	if r.Action.Scope == resources.ScopeAccount {
		target.ProjectID, target.Resource = "", ""
	}
	target.UserID = cmp.Or(params["userId"], params["user_id"])
	return target
}

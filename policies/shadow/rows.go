package shadow

import (
	"errors"
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// errOtherScope means that the record of a call lacks what the candidate has to know of its project.
var errOtherScope = errors.New("the route's action is of another scope, so its calls can't be judged")

// rows are the candidate's, by name. They are for one goroutine.
type rows struct {
	revision string
	byName   map[string]*resources.Route
}

// asked returns a call's question as the candidate's row of its name asks it. A call named by a proxy has no row.
func (r *rows) asked(candidate Policy, q resources.Question) (resources.Question, error) {
	if q.Route == nil || q.Route.Name == resources.RouteNamed {
		return q, nil
	}
	if revision := candidate.Revision(); r.byName == nil || r.revision != revision {
		r.revision, r.byName = revision, map[string]*resources.Route{}
		for _, row := range candidate.Routes() {
			r.byName[row.Name] = &row
		}
	}
	row := r.byName[q.Route.Name]
	if row == nil {
		return q, fmt.Errorf("the candidate has no route %s", q.Route.Name)
	}
	action, _ := resources.ParseAction(row.Action) // "" is none
	inProject := q.Target.ProjectID != "" || q.Through != ""
	if inProject && (action.Scope == resources.ScopeAccount) != (q.Action.Scope == resources.ScopeAccount) {
		return q, errOtherScope
	}
	q.Route, q.Action = row, action
	return q, nil
}

package catalogue

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Row is a row of the catalogue with its path and action parsed. Nothing changes it.
type Row struct {
	Route resources.Route
	// Action is the zero value for a row without one.
	Action resources.Action
	// Public rows are open to callers without a credential.
	Public bool
	// Number is the row's place among those of its index.
	Number int
	path   route.Row
}

// NewRow parses a row. The error says why no call of it could be judged.
func NewRow(r resources.Route) (*Row, error) {
	row := &Row{Route: r, Public: slices.Contains(r.Access, "public")}
	var err error
	if r.Action != "" {
		if row.Action, err = resources.ParseAction(r.Action); err != nil {
			return nil, fmt.Errorf("action %w", err)
		}
	}
	if row.path, err = route.ReadRow(r); err != nil {
		return nil, err
	}
	return row, nil
}

// Params returns the values of a path's parameters by name.
func (r *Row) Params(values []string) map[string]string { return r.path.Named(values) }

// HasParam reports whether the path has the parameter.
func (r *Row) HasParam(name string) bool { return slices.Contains(r.path.Params, name) }

// Problems returns what is wrong with the values of a path's parameters.
func (r *Row) Problems(values []string) []resources.Problem { return r.path.Problems(values) }

// Read returns the place that a path of the row names, or all that is wrong with the path.
func (r *Row) Read(path string, values []string) (resources.Target, []resources.Problem) {
	return r.path.Read(path, values)
}

// Question returns what policy is asked about a call of the row at this place. The account in question is the place's, else
// account. The user in question is the path's {userId}, else its {user_id}.
func (r *Row) Question(account string, place resources.Target, values []string) resources.Question {
	q := resources.Question{Action: r.Action, AccountID: cmp.Or(place.AccountID, account), Target: place, Route: &r.Route}
	if params := r.path.Params; len(params) > 0 {
		named := r.Params(values)
		q.Target.UserID = cmp.Or(named["userId"], named["user_id"])
	}
	if r.Action.Scope == resources.ScopeAccount {
		q.Target.ProjectID, q.Through = "", place.ProjectID
	}
	return q
}

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
	route.Row
	Route resources.Route
	// Action is the zero value for a row without one.
	Action resources.Action
	// Public rows are open to callers without a credential.
	Public bool
	// Number is the row's place among those of its index.
	Number int
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
	if problem := r.MCPProblem(); problem != "" {
		return nil, fmt.Errorf("mcp %s", problem)
	}
	if row.Row, err = route.ReadRow(r); err != nil {
		return nil, err
	}
	return row, nil
}

// Question returns what policy is asked about a call of the row at this place. The account in question is the place's, else
// account. The user in question is the path's {userId}, else its {user_id}.
func (r *Row) Question(account string, place resources.Target, values []string) resources.Question {
	q := resources.Question{Action: r.Action, AccountID: cmp.Or(place.AccountID, account), Target: place, Route: &r.Route}
	if len(r.Params) > 0 {
		named := r.Named(values)
		q.Target.UserID = cmp.Or(named["userId"], named["user_id"])
	}
	if r.Action.Scope == resources.ScopeAccount {
		q.Target.ProjectID, q.Through = "", place.ProjectID
	}
	return q
}

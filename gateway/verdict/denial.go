package verdict

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
)

// EnterAndSay is Enter for a caller who may ask about themselves, too: a denial of a route with an
// action comes with the reason that the question about the caller would have. Enter tells a user no
// more than that no role grants the action.
func (j *Judge) EnterAndSay(ctx context.Context, caller resources.Principal, c Call) (Verdict, error) {
	v, err := j.Enter(ctx, caller, c)
	if !resources.IsKind(err, resources.KindForbidden) || c.Route.Row.Action == "" || caller.Kind != resources.PrincipalUser {
		return v, err
	}
	q := resources.Question{
		Principal: caller, Action: c.Route.Action, AccountID: c.AccountID, Target: c.Target, Route: &c.Route.Row,
	}
	said, err := j.decide(ctx, caller.ID, &q)
	if err != nil {
		return Verdict{}, err
	}
	if !said.Allowed { // else something changed between the two: the denial stands, in its own words
		if v, err = j.tell(ctx, resources.PathDecision, v.ID, said, &q); err != nil {
			return Verdict{}, err
		}
	}
	return denied(v, nil)
}

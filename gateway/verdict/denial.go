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
	facts, err := j.Facts.Facts(ctx, c.AccountID, caller.ID, c.Target.ProjectID)
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	said, err := j.Policy.Decide(ctx, resources.Question{
		Principal: caller, Action: c.Route.Action, AccountID: c.AccountID, Facts: facts,
		Target: c.Target, Route: c.Route.Row, Now: resources.At(j.Now()),
	})
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	if !said.Allowed { // else something changed between the two: the denial stands, in its own words
		v.Code, v.Reason, v.PolicyRevision, v.AccountRevision = said.Code, said.Reason, said.PolicyRevision, facts.Revision
	}
	return v, resources.Denied(v.Reason)
}

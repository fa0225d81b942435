package verdict

import (
	"context"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Policy decides (policies/engine). An error is never an allow.
type Policy interface {
	// Decide says whether the question's subject may do its action there.
	Decide(ctx context.Context, q resources.Question) (resources.Decision, error)
	// Access says whether the caller may make the request.
	Access(ctx context.Context, q resources.Question) (resources.Decision, error)
}

// Facts gives the facts on which a decision about the user, the account and the project rests, all
// of one revision and at least as new as the last change that was answered before the call
// (store/rolecache). An empty user is nobody's facts, an empty project no project's.
type Facts interface {
	Facts(ctx context.Context, account, user, project string) (resources.Facts, error)
}

// Judge reaches verdicts. All of its fields are needed. It is safe for concurrent use.
type Judge struct {
	Policy Policy
	Facts  Facts
	IDs    resources.IDs
	Now    func() time.Time
}

// Verdict is policy's decision with what it was decided on. The zero value denies.
type Verdict struct {
	resources.Decision
	// AccountRevision is the revision of the account's facts.
	AccountRevision int64
	// ID names the verdict of a question; it is empty for a call of a route.
	ID string
}

// Route is a row of the catalogue with its action parsed.
type Route struct {
	Row resources.Route
	// Action is the zero value for a row without one.
	Action resources.Action
	// Public routes are open to callers without a credential.
	Public bool
}

// Call is a call of a route.
type Call struct {
	Route *Route
	// AccountID is the account in question; it is empty where the call names none.
	AccountID string
	Target    resources.Target
}

// Question is whether a subject may do an action at a place.
type Question struct {
	// Door is the route on which the question is asked: its action is the right to ask.
	Door *Route
	// SubjectID is the user's external id.
	SubjectID string
	AccountID string
	Action    resources.Action
	Target    resources.Target
}

// Enter judges whether the caller may make the call. Errors are *resources.Error: KindForbidden,
// with the verdict that denies beside it, and KindUnavailable.
func (j *Judge) Enter(ctx context.Context, caller resources.Principal, c Call) (Verdict, error) {
	var facts resources.Facts
	if !c.Route.Public {
		known := "" // services are looked for in no account
		if caller.Kind == resources.PrincipalUser {
			known = caller.ID
		}
		var err error
		if facts, err = j.Facts.Facts(ctx, c.AccountID, known, c.Target.ProjectID); err != nil {
			return Verdict{}, unavailable(err)
		}
	}
	decision, err := j.Policy.Access(ctx, resources.Question{
		Principal: caller, Action: c.Route.Action, AccountID: c.AccountID, Facts: facts,
		Target: c.Target, Route: c.Route.Row, Now: resources.At(j.Now()),
	})
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	v := Verdict{Decision: decision, AccountRevision: facts.Revision}
	if !v.Allowed {
		return v, resources.Denied(v.Reason)
	}
	return v, nil
}

// Ask judges whether the caller may ask about the subject, and then the question itself. Errors
// are those of Enter, for the right to ask: a question that policy denies is a verdict.
func (j *Judge) Ask(ctx context.Context, caller resources.Principal, q Question) (Verdict, error) {
	asking := Call{Route: q.Door, AccountID: q.AccountID, Target: resources.Target{UserID: q.SubjectID}}
	if v, err := j.Enter(ctx, caller, asking); err != nil {
		return v, err
	}
	facts, err := j.Facts.Facts(ctx, q.AccountID, q.SubjectID, q.Target.ProjectID)
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	decision, err := j.Policy.Decide(ctx, resources.Question{
		Principal: caller, Action: q.Action, AccountID: q.AccountID, Facts: facts,
		Target: q.Target, Route: q.Door.Row, Now: resources.At(j.Now()),
	})
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	return Verdict{Decision: decision, AccountRevision: facts.Revision, ID: j.IDs.ULID()}, nil
}

// unavailable makes any error of the decision path one of KindUnavailable.
func unavailable(err error) error {
	var domain *resources.Error
	if errors.As(err, &domain) && domain.Kind == resources.KindUnavailable {
		return err
	}
	return resources.Unavailable("The decision could not be made now; try again.", err)
}

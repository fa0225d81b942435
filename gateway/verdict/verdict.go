package verdict

import (
	"cmp"
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

// Judge reaches verdicts. All of its fields but Log are needed. It is safe for concurrent use.
type Judge struct {
	Policy Policy
	Facts  Facts
	IDs    resources.IDs
	Now    func() time.Time
	// Log takes every verdict before it is told; nil records none.
	Log resources.DecisionLog
}

// Verdict is policy's decision with what it was decided on. The zero value denies.
type Verdict struct {
	resources.Decision
	// AccountRevision is the revision of the account's facts, as the caller may know it (RevisionFor).
	AccountRevision int64
	// ID names the verdict; it is empty where there is none.
	ID string
	// unasked says that it is not policy's.
	unasked bool
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
	// Through is the project to which the path of an account action goes on; it must be an active one of the account.
	Through string
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
	// Through is that of the call that is asked about.
	Through string
}

// Enter judges whether the caller may make the call. Errors are *resources.Error: KindForbidden,
// with the verdict that denies beside it, and KindUnavailable.
func (j *Judge) Enter(ctx context.Context, caller resources.Principal, c Call) (Verdict, error) {
	v, q, err := j.enter(ctx, caller, c)
	if err == nil && !c.Route.Public { // which is no decision
		v, err = j.tell(ctx, resources.PathAccess, "", v, &q)
	}
	return denied(v, err)
}

// Permit is Enter for a call whose verdict is no decision that is recorded: the verdict has no id.
func (j *Judge) Permit(ctx context.Context, caller resources.Principal, c Call) (Verdict, error) {
	v, _, err := j.enter(ctx, caller, c)
	return denied(v, err)
}

// denied adds the error of a call that policy denies.
func denied(v Verdict, err error) (Verdict, error) {
	if err == nil && !v.Allowed {
		err = resources.Denied(v.Reason)
	}
	return v, err
}

// enter judges the call, and tells nobody.
func (j *Judge) enter(ctx context.Context, caller resources.Principal, c Call) (Verdict, resources.Question, error) {
	q := resources.Question{
		Principal: caller, Action: c.Route.Action, AccountID: c.AccountID, Target: c.Target, Route: &c.Route.Row,
	}
	if !c.Route.Public {
		known := "" // services are looked for in no account
		if caller.Kind == resources.PrincipalUser {
			known = caller.ID
		}
		var err error
		if q.Facts, err = j.Facts.Facts(ctx, q.AccountID, known, cmp.Or(q.Target.ProjectID, c.Through)); err != nil {
			return Verdict{}, q, unavailable(err)
		}
	}
	state := takeState(c.Through, &q)
	q.Now = resources.At(j.Now())
	decision, err := j.Policy.Access(ctx, q)
	if err != nil {
		return Verdict{}, q, unavailable(err)
	}
	v := Verdict{Decision: decision, AccountRevision: RevisionFor(caller, q.AccountID, q.Facts.Revision)}
	if !c.Route.Public {
		v.through(c.Through, state, &q)
	}
	return v, q, nil
}

// decide judges the question about a user, and tells nobody.
func (j *Judge) decide(ctx context.Context, user string, q *resources.Question) (Verdict, error) {
	var err error
	if q.Facts, err = j.Facts.Facts(ctx, q.AccountID, user, q.Target.ProjectID); err != nil {
		return Verdict{}, unavailable(err)
	}
	q.Now = resources.At(j.Now())
	decision, err := j.Policy.Decide(ctx, *q)
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	return Verdict{Decision: decision, AccountRevision: RevisionFor(q.Principal, q.AccountID, q.Facts.Revision)}, nil
}

// tell names a verdict and has the log take it. An error means that it may not be told.
func (j *Judge) tell(ctx context.Context, path, parent string, v Verdict, q *resources.Question) (Verdict, error) {
	v.ID = j.IDs.ULID()
	if j.Log == nil {
		return v, nil
	}
	err := j.Log.Record(ctx, &resources.Judgement{ID: v.ID, ParentID: parent, Path: path, Question: *q, Decision: v.Decision, Unasked: v.unasked})
	if err != nil {
		return Verdict{}, unavailable(err)
	}
	return v, nil
}

// Ask judges whether the caller may ask about the subject, and then the question itself. Errors
// are those of Enter, for the right to ask: a question that policy denies is a verdict.
func (j *Judge) Ask(ctx context.Context, caller resources.Principal, q Question) (Verdict, error) {
	asking := Call{Route: q.Door, AccountID: q.AccountID, Target: resources.Target{UserID: q.SubjectID}}
	may, right, err := j.enter(ctx, caller, asking)
	if err == nil && !may.Allowed { // which is told in place of the answer
		may, err = j.tell(ctx, resources.PathAccess, "", may, &right)
	}
	if may, err = denied(may, err); err != nil {
		return may, err
	}
	asked := resources.Question{Principal: caller, Action: q.Action, AccountID: q.AccountID, Target: q.Target, Route: &q.Door.Row}
	v, err := j.decide(ctx, q.SubjectID, &asked)
	if err != nil {
		return Verdict{}, err
	}
	return j.tell(ctx, resources.PathDecision, "", v, &asked)
}

// RevisionFor returns the revision of an account as the caller may know it: services and members of the account see it,
// everybody else sees 0, the revision of an account that does not exist.
func RevisionFor(caller resources.Principal, account string, revision int64) int64 {
	if caller.Kind == resources.PrincipalService || caller.Kind == resources.PrincipalUser && caller.AccountID == account {
		return revision
	}
	return 0
}

// unavailable makes any error of the decision path one of KindUnavailable.
func unavailable(err error) error {
	var domain *resources.Error
	if errors.As(err, &domain) && domain.Kind == resources.KindUnavailable {
		return err
	}
	return resources.Unavailable("The decision could not be made now; try again.", err)
}

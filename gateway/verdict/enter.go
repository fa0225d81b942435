package verdict

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Enter judges whether the caller may make the call of a row. The question is the row's own (route.Row.Question).
// The outcome has an error of KindForbidden for a denial, and one of KindUnavailable without a verdict. A question with
// a subject is one of somebody else about the caller's call. Users may ask about themselves. So a denial of a row with
// an action then has the reason of the question about the caller. Without a subject the reason for a user is only that
// no role grants the action.
func (j *Judge) Enter(ctx context.Context, caller *resources.Principal, row *route.Row, q resources.Question) Outcome {
	tree := j.Pin()
	if !row.Public {
		var err error
		if q.Facts, err = j.Facts.Facts(ctx, q.AccountID, userOf(caller), cmp.Or(q.Target.ProjectID, q.Through)); err != nil {
			return Outcome{Err: unavailable(err)}
		}
	}
	q.Now = resources.At(j.Now())
	o, asked := enter(ctx, tree, caller, row, q)
	if !row.Public { // which is not a decision
		o = j.tell(ctx, resources.PathAccess, "", o, &asked)
	}
	if o.Err == nil && !o.Allowed && q.SubjectID != "" && row.Action.ID != "" && caller.Kind == resources.PrincipalUser {
		o = j.explain(ctx, tree, o, asked)
	}
	o.refuse()
	return o
}

// enter judges a call, or the right to ask, on the question's facts, and records nothing. It returns the judged
// question, too.
func enter(ctx context.Context, tree Tree, caller *resources.Principal, row *route.Row, q resources.Question) (Outcome, resources.Question) {
	q.Principal = *caller
	if caller.Kind == resources.PrincipalAgent && !row.Public { // in every tree
		d := resources.Decision{Code: "not_own", Reason: "an agent without a user makes no call", PolicyRevision: tree.Revision()}
		return Outcome{Decision: d, unasked: true}, q
	}
	state := takeState(&q)
	d, err := tree.Access(ctx, q)
	if err != nil {
		return Outcome{Err: unavailable(err)}, q
	}
	o := Outcome{Decision: d, AccountRevision: RevisionFor(caller, q.AccountID, q.Facts.Revision)}
	if !row.Public {
		o.through(state, &q)
	}
	return o, q
}

// explain gives a denial the reason of the question about the caller. If that question is allowed, the denial is not
// policy's word on the action, and keeps its own reason.
func (j *Judge) explain(ctx context.Context, tree Tree, denied Outcome, q resources.Question) Outcome {
	if denied.unasked { // it was about the project, and the question is about the account
		q.Target.ProjectID, q.Facts.ProjectState = "", ""
	}
	d, err := tree.Decide(ctx, q)
	if err != nil {
		return Outcome{Err: unavailable(err)}
	}
	if d.Allowed {
		return denied
	}
	return j.tell(ctx, resources.PathDecision, denied.ID, Outcome{Decision: d, AccountRevision: denied.AccountRevision}, &q)
}

// tell names a verdict and has the log take it. One that the log can't take is an error.
func (j *Judge) tell(ctx context.Context, path, parent string, o Outcome, q *resources.Question) Outcome {
	if o.Err != nil {
		return o
	}
	j.name(&o)
	if j.Log == nil {
		return o
	}
	entry := judgement(path, &o, q)
	entry.ParentID = parent
	if err := j.record(ctx, entry); err != nil {
		return Outcome{Err: err}
	}
	return o
}

// The denial of an account action on a path to a project that is not an active one of the account. Policy gives the same
// for an action of the project.
const (
	codeNotActive   = "needs_active_project"
	reasonNotActive = "the project is not an active project of the account"
)

// takeState takes the state of the project from the facts of a question that does not name it.
func takeState(q *resources.Question) (state string) {
	if q.Through != "" {
		state, q.Facts.ProjectState = q.Facts.ProjectState, ""
	}
	return state
}

// through denies a call allowed in the account if its path goes on to a project that is not active. The question is
// then the project's. It comes after policy, so nobody else learns the account's projects.
func (o *Outcome) through(state string, q *resources.Question) {
	if q.Through == "" || !o.Allowed || state == resources.ProjectActive {
		return
	}
	o.Allowed, o.Code, o.Reason, o.unasked = false, codeNotActive, reasonNotActive, true
	q.Target.ProjectID, q.Facts.ProjectState = q.Through, state
}

package preview

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Bounds of a preview.
const (
	// judgeTime bounds a preview by the clock; answerTime of the request's own time is left for its answer.
	judgeTime  = 10 * time.Second
	answerTime = time.Second
	// maxRows bounds gains and losses together.
	maxRows = 10_000
)

type preview struct {
	Gains           []row `json:"gains"`
	Loses           []row `json:"loses"`
	People          int   `json:"people"`
	Complete        bool  `json:"complete"`
	AccountRevision int64 `json:"account_revision"`
}

// row is what one person may do after the changes and not before, or the other way round.
type row struct {
	User   string `json:"user"`
	Action string `json:"action"`
	Place  place  `json:"place"`
}

// place is a project or a resource of one; the empty place is the account.
type place struct {
	ProjectID  string `json:"project_id,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
}

// judging is the state of one preview.
type judging struct {
	Door
	call   *doors.Call
	tree   verdict.Tree
	now    resources.Time
	end    time.Time
	judged int
	out    preview
}

// end returns when the judging ends.
func (d Door) end(ctx context.Context, started time.Time) time.Time {
	limit := judgeTime
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)-answerTime)
	}
	return started.Add(limit)
}

// judge adds what each person gains and loses. It sets Complete to false at a bound. The error is policy's.
func (j *judging) judge(ctx context.Context, account string, s *resources.Supposed) error {
	var actions []resources.Action
	for _, id := range j.tree.Actions() {
		action, err := resources.ParseAction(id)
		if err != nil {
			return err
		}
		actions = append(actions, action)
	}
	base := resources.Question{AccountID: account, Now: j.now, Route: &j.call.Row.Route}
	base.Facts.Revision = s.Revision
	for i := range s.People {
		more, err := j.inTurn(ctx, base, &s.People[i], s, actions)
		if err != nil {
			return err
		}
		if !more {
			j.out.Complete = false
			break
		}
	}
	return nil
}

// inTurn judges a person in the caller's turn; more is false at a bound.
func (j *judging) inTurn(ctx context.Context, q resources.Question, p *resources.SupposedPerson, s *resources.Supposed, actions []resources.Action) (more bool, err error) {
	waiting, stop := context.WithTimeout(ctx, j.end.Sub(j.Now()))
	defer stop()
	if err := j.Turns.Enter(waiting, j.call.Caller.ID); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return false, nil
		}
		return false, err
	}
	defer j.Turns.Leave()
	q.SubjectID = p.Before.UserID
	q.Principal = resources.Principal{ // the person, with a token
		Kind: resources.PrincipalUser, ID: p.Before.UserID, UUID: p.Before.UserUUID, AccountID: p.Before.HomeID, Credential: resources.CredentialToken,
	}
	places := []place{{}}
	for _, project := range s.Projects {
		places = append(places, place{ProjectID: project})
	}
	for _, resource := range p.Resources {
		places = append(places, place(resource))
	}
	for _, where := range places {
		q.Target, q.Facts.ProjectState = resources.TargetAt(where.ProjectID, where.ResourceID), s.States[where.ProjectID]
		q.Target.AccountID = q.AccountID
		if more, err := j.judgePlace(ctx, q, p, where, actions); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// judgePlace judges the actions of a person at a place; more is false at a bound.
func (j *judging) judgePlace(ctx context.Context, q resources.Question, p *resources.SupposedPerson, where place, actions []resources.Action) (more bool, err error) {
	for _, action := range actions {
		if len(j.out.Gains)+len(j.out.Loses) >= maxRows || !j.Now().Before(j.end) {
			return false, nil
		}
		q.Action, q.Facts.Subject = action, p.Before
		before, err := j.tree.Decide(ctx, q)
		if err != nil {
			return false, err
		}
		q.Facts.Subject = p.After
		after, err := j.tree.Decide(ctx, q)
		if err != nil {
			return false, err
		}
		j.judged += 2
		changed := row{User: q.SubjectID, Action: action.ID, Place: where}
		switch {
		case after.Allowed && !before.Allowed:
			j.out.Gains = append(j.out.Gains, changed)
		case before.Allowed && !after.Allowed:
			j.out.Loses = append(j.out.Loses, changed)
		}
	}
	return true, nil
}

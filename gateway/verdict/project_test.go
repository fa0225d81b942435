package verdict_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// stated gives every project one state.
type stated struct {
	parts
	state string
}

func (s *stated) Facts(ctx context.Context, account, user, project string) (f resources.Facts, err error) {
	if f, err = s.parts.Facts(ctx, account, user, project); project != "" {
		f.ProjectState = s.state
	}
	return f, err
}

func (s *stated) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	for i, pair := range pairs {
		facts[i], _ = s.Facts(ctx, account, pair.UserID, pair.ProjectID)
	}
	return nil
}

// TestTheProjectOfAnAccountActionIsJudged: what policy allows in the account is denied on the path of a project that is
// not an active one of it, and what policy denies keeps its reason.
func TestTheProjectOfAnAccountActionIsJudged(t *testing.T) {
	no := resources.Decision{Reason: "no role"}
	named := resources.Target{AccountID: "acct-a-v1", ProjectID: "proj-a-v1", Resource: "x/y", Rest: "x/y"}
	for name, c := range map[string]struct {
		state  string
		policy resources.Decision
		reason string
		isOwn  bool // the denial is policy's
	}{
		"active": {resources.ProjectActive, yes, "yes", true}, "absent": {resources.ProjectAbsent, yes, "the project is not an active project of the account", false},
		"being deleted": {resources.ProjectDeleting, yes, "the project is not an active project of the account", false},
		"unknown":       {"", yes, "the project is not an active project of the account", false},
		"no role":       {resources.ProjectAbsent, no, "no role", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := &stated{parts{access: c.policy, decide: c.policy}, c.state}, &recorder{}
			r := row(t, resources.Route{Name: "settings", Path: "/x", Action: "account:project:read"})
			q := r.Question("acct-own-v1", named, nil)
			j := judge(&s.parts)
			j.Facts, j.Log = s, log
			asked := q
			asked.SubjectID = "user-alice-v1" // somebody else asks
			o := j.Enter(t.Context(), alice(), r, asked)
			if o.Reason != c.reason || o.Allowed != (c.reason == "yes") || o.Allowed == resources.IsKind(o.Err, resources.KindForbidden) {
				t.Errorf("a call: %+v", o)
			}
			for _, judged := range s.questions {
				if target := judged.Target; target.ProjectID != "" || target.AccountID != "acct-a-v1" || target.Resource != "x/y" || judged.Facts.ProjectState != "" {
					t.Errorf("policy was asked about %+v", judged)
				}
			}
			if last := log.judgements[len(log.judgements)-1]; last.Unasked == c.isOwn || last.Unasked && (last.Question.Target.ProjectID != "proj-a-v1" || last.Question.Facts.ProjectState != c.state) {
				t.Errorf("recorded: %+v", last)
			}

			s.access, log.judgements = yes, nil // the right to ask
			if o = j.One(t.Context(), alice(), door(t), asked); o.Err != nil || o.Reason != c.reason || o.Allowed != (c.reason == "yes") {
				t.Errorf("a question: %+v", o)
			}
			if len(log.judgements) != 1 || log.judgements[0].Unasked == c.isOwn {
				t.Errorf("recorded %+v", log.judgements)
			}
		})
	}
}

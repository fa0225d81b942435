package verdict_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
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

func (s *stated) FactsOf(ctx context.Context, account string, of []resources.About) (out []resources.Facts, err error) {
	for _, one := range of {
		f, _ := s.Facts(ctx, account, one.UserID, one.ProjectID)
		out = append(out, f)
	}
	return out, nil
}

func (s *stated) Homes(context.Context, []string) ([]string, error) { return nil, nil }

// account is a route whose action is the account's.
func accountRoute(t *testing.T) *verdict.Route {
	t.Helper()
	of, err := verdict.NewRoute(resources.Route{Name: "settings", Action: "account:project:read"})
	if err != nil {
		t.Fatal(err)
	}
	return &of
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
		own    bool // the denial is policy's
	}{
		"active": {resources.ProjectActive, yes, "yes", true}, "absent": {resources.ProjectAbsent, yes, "the project is not an active project of the account", false},
		"being deleted": {resources.ProjectDeleting, yes, "the project is not an active project of the account", false},
		"unknown":       {"", yes, "the project is not an active project of the account", false},
		"no role":       {resources.ProjectAbsent, no, "no role", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := &stated{parts{access: c.policy, decide: c.policy}, c.state}, &recorder{}
			call := accountRoute(t).Call("acct-own-v1", named, nil)
			j := &verdict.Judge{Policy: s, Facts: s, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now, Log: log}
			v, err := j.EnterAndSay(t.Context(), alice(), call)
			if v.Reason != c.reason || v.Allowed != (c.reason == "yes") || v.Allowed == resources.IsKind(err, resources.KindForbidden) {
				t.Errorf("a call: %+v, %v", v, err)
			}
			asked := s.questions[0].Target
			if asked.ProjectID != "" || asked.AccountID != "acct-a-v1" || asked.Resource != "x/y" || s.questions[0].Facts.ProjectState != "" {
				t.Errorf("policy was asked about %+v", s.questions[0])
			}
			if last := log.told[len(log.told)-1]; last.Unasked == c.own || last.Unasked && (last.Question.Target.ProjectID != "proj-a-v1" || last.Question.Facts.ProjectState != c.state) {
				t.Errorf("recorded: %+v", last)
			}

			s.access, log.told = yes, nil // the right to ask
			batches := verdict.Batches{
				Pin: func() verdict.Pinned { return verdict.Pinned{Policy: s} }, Facts: s, IDs: j.IDs, Now: time.Now, Log: log,
			}
			item := verdict.Item{Question: verdict.Question{SubjectID: "user-alice-v1", AccountID: "acct-a-v1", Action: call.Route.Action, Target: call.Target, Through: call.Through}}
			err = batches.Begin(alice(), question(t).Door).Ask(t.Context(), []verdict.Item{item}, func(o verdict.Outcome) bool {
				if o.Err != nil || o.Reason != c.reason || o.Allowed != (c.reason == "yes") {
					t.Errorf("an item: %+v", o)
				}
				return true
			})
			if err != nil || len(log.told) != 1 || log.told[0].Unasked == c.own {
				t.Errorf("%v, recorded %+v", err, log.told)
			}
		})
	}
}

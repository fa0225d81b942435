package verdict_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// parts are what a judge works with; each can be made to fail.
type parts struct {
	decide, access resources.Decision
	decideErr      error
	accessErr      error
	factsErr       map[string]error // by user
	asked          []string
	questions      []resources.Question
}

func (p *parts) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	p.asked, p.questions = append(p.asked, "decide"), append(p.questions, q)
	return p.decide, p.decideErr
}

func (p *parts) Access(_ context.Context, q resources.Question) (resources.Decision, error) {
	p.asked, p.questions = append(p.asked, "access"), append(p.questions, q)
	return p.access, p.accessErr
}

func (p *parts) Facts(_ context.Context, account, user, project string) (resources.Facts, error) {
	p.asked = append(p.asked, "facts of "+account+"/"+user+"/"+project)
	return resources.Facts{Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: user}}, p.factsErr[user]
}

var yes = resources.Decision{Allowed: true, Reason: "yes", PolicyRevision: "rev-1"}

func judge(p *parts) *verdict.Judge {
	return &verdict.Judge{Policy: p, Facts: p, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now}
}

func alice() resources.Principal {
	return resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1", AccountID: "acct-a-v1"}
}

func question(t *testing.T) verdict.Question {
	t.Helper()
	check, err := resources.ParseAction("account:authorization:check")
	if err != nil {
		t.Fatal(err)
	}
	read, err := resources.ParseAction("project:instance:read")
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Question{
		Door: &verdict.Route{Action: check}, SubjectID: "user-bob-v1", AccountID: "acct-a-v1", Action: read,
		Target: resources.Target{AccountID: "acct-a-v1", ProjectID: "proj-a-v1"},
	}
}

// TestNoErrorAllows: facts and policy that fail give a verdict that denies and a 503, even beside a
// decision that allows, and whatever kind of error it was.
func TestNoErrorAllows(t *testing.T) {
	for cause, err := range map[string]error{
		"plain": errors.New("broken"), "timeout": context.DeadlineExceeded, "not found": resources.NotFound("row"),
		"unavailable": resources.Unavailable("Come again.", nil),
	} {
		for where, p := range map[string]*parts{
			"caller's facts":  {factsErr: map[string]error{"user-alice-v1": err}},
			"access":          {accessErr: err},
			"subject's facts": {factsErr: map[string]error{"user-bob-v1": err}},
			"decision":        {decideErr: err},
		} {
			t.Run(where+" "+cause, func(t *testing.T) {
				p.decide, p.access = yes, yes
				v, err := judge(p).Ask(t.Context(), alice(), question(t))
				if v != (verdict.Verdict{}) || !resources.IsKind(err, resources.KindUnavailable) {
					t.Errorf("%+v, %v", v, err)
				}
			})
		}
	}
}

// TestCallerWhoMayNotAskGetsNoVerdict: the right to ask is judged first, on the caller's facts, and
// the question is not judged.
func TestCallerWhoMayNotAskGetsNoVerdict(t *testing.T) {
	p := &parts{decide: yes, access: resources.Decision{Reason: "no role"}}
	v, err := judge(p).Ask(t.Context(), alice(), question(t))
	if v.Allowed || v.Reason != "no role" || v.ID == "" || !resources.IsKind(err, resources.KindForbidden) {
		t.Errorf("%+v, %v", v, err)
	}
	if len(p.asked) != 2 || p.asked[0] != "facts of acct-a-v1/user-alice-v1/" || p.asked[1] != "access" {
		t.Errorf("asked %q", p.asked)
	}
}

// TestQuestionIsJudgedOnTheSubjectsFacts, and the right to ask on the caller's.
func TestQuestionIsJudgedOnTheSubjectsFacts(t *testing.T) {
	p := &parts{decide: yes, access: yes}
	v, err := judge(p).Ask(t.Context(), alice(), question(t))
	if err != nil || !v.Allowed || v.AccountRevision != 7 || len(v.ID) != 26 || v.PolicyRevision != "rev-1" {
		t.Fatalf("%+v, %v", v, err)
	}
	access, decide := p.questions[0], p.questions[1]
	if access.Facts.Subject.UserID != "user-alice-v1" || access.Target != (resources.Target{UserID: "user-bob-v1"}) || access.Action.Resource != "authorization" {
		t.Errorf("access %+v", access)
	}
	if decide.Facts.Subject.UserID != "user-bob-v1" || decide.Target.ProjectID != "proj-a-v1" || decide.Action.Resource != "instance" || decide.Principal.ID != "user-alice-v1" {
		t.Errorf("decide %+v", decide)
	}
	p.decide = resources.Decision{Reason: "no role"}
	if v, err := judge(p).Ask(t.Context(), alice(), question(t)); err != nil || v.Allowed || v.ID == "" {
		t.Errorf("a denied question is a verdict: %+v, %v", v, err)
	}
}

// TestServiceIsLookedForInNoAccount, and a public route asks for no facts at all.
func TestServiceIsLookedForInNoAccount(t *testing.T) {
	p := &parts{access: yes}
	service := resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}
	if v, err := judge(p).Enter(t.Context(), service, verdict.Call{Route: &verdict.Route{}, AccountID: "acct-a-v1"}); err != nil || !v.Allowed || v.ID == "" {
		t.Errorf("%+v, %v", v, err)
	}
	if p.asked[0] != "facts of acct-a-v1//" {
		t.Errorf("asked %q", p.asked)
	}
	p.asked = nil
	if _, err := judge(p).Enter(t.Context(), resources.Principal{}, verdict.Call{Route: &verdict.Route{Public: true}}); err != nil || len(p.asked) != 1 {
		t.Errorf("%v, asked %q", err, p.asked)
	}
}

// TestRevisionOfAnAccountIsForItsMembers and services: to anybody else it is 0, as where there is no account.
func TestRevisionOfAnAccountIsForItsMembers(t *testing.T) {
	p := &many{parts: parts{decide: yes, access: yes}}
	pins := 0
	for name, c := range map[string]struct {
		caller  resources.Principal
		account string
		want    int64
	}{
		"a member":               {alice(), "acct-a-v1", 7},
		"a user of another":      {alice(), "acct-b-v1", 0},
		"a service":              {resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}, "acct-b-v1", 7},
		"nobody":                 {resources.Principal{Kind: resources.PrincipalNone, AccountID: "acct-a-v1"}, "acct-a-v1", 0},
		"a caller of no kind":    {resources.Principal{AccountID: "acct-a-v1"}, "acct-a-v1", 0},
		"a user of no account":   {resources.Principal{Kind: resources.PrincipalUser, ID: "user-x-v1"}, "acct-a-v1", 0},
		"a service with a place": {resources.Principal{Kind: resources.PrincipalService, ID: "service-a", AccountID: "acct-a-v1"}, "acct-b-v1", 7},
	} {
		q := question(t)
		q.AccountID = c.account
		asked, err := judge(&p.parts).Ask(t.Context(), c.caller, q)
		if err != nil || asked.AccountRevision != c.want {
			t.Errorf("%s asks: %d, %v", name, asked.AccountRevision, err)
		}
		entered, err := judge(&p.parts).Enter(t.Context(), c.caller, verdict.Call{Route: &verdict.Route{}, AccountID: c.account})
		if err != nil || entered.AccountRevision != c.want {
			t.Errorf("%s enters: %d, %v", name, entered.AccountRevision, err)
		}
		err = batches(p, &pins).Begin(c.caller, q.Door).Ask(t.Context(), []verdict.Item{{Question: q}}, func(o verdict.Outcome) bool {
			if o.Err != nil || o.AccountRevision != c.want {
				t.Errorf("%s asks with others: %d, %v", name, o.AccountRevision, o.Err)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	}
}

package verdict_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// parts are what a judge works with; each can be made to fail.
type parts struct {
	verdict.Tree
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

func (p *parts) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) (err error) {
	for i, pair := range pairs {
		f, failed := p.Facts(ctx, account, pair.UserID, pair.ProjectID)
		facts[i], err = f, errors.Join(err, failed)
	}
	return err
}

func (p *parts) Homes(context.Context, []string) ([]string, error) { return nil, nil }

func (p *parts) AccessByUser(string) bool { return true }

func (p *parts) Revision() string { return "rev-1" }

var yes = resources.Decision{Allowed: true, Reason: "yes", PolicyRevision: "rev-1"}

func judge(p *parts) *verdict.Judge {
	return &verdict.Judge{Pin: func() verdict.Tree { return p }, Facts: p, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now}
}

func alice() *resources.Principal {
	return &resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1", AccountID: "acct-a-v1"}
}

// door is a door whose action is the right to ask.
func door(t *testing.T) *route.Row {
	return row(t, resources.Route{Name: "door", Path: "/ask", Action: "account:authorization:check"})
}

func row(t *testing.T, r resources.Route) *route.Row {
	t.Helper()
	return must.Get(route.NewRow(r))(t)
}

func question(t *testing.T) resources.Question {
	t.Helper()
	read := must.Get(resources.ParseAction("project:instance:read"))(t)
	return resources.Question{
		SubjectID: "user-bob-v1", AccountID: "acct-a-v1", Action: read, Target: resources.Target{AccountID: "acct-a-v1", ProjectID: "proj-a-v1"},
	}
}

// one asks a single question.
func one(t *testing.T, p *parts, caller *resources.Principal, q resources.Question) verdict.Outcome {
	t.Helper()
	return judge(p).One(t.Context(), caller, door(t), q)
}

// TestNoErrorAllows guarantees that a failure of facts or policy denies with a 503. This holds for every kind of error,
// and beside a decision that allows.
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
				o := one(t, p, alice(), question(t))
				if o.Decision != (resources.Decision{}) || o.ID != "" || !resources.IsKind(o.Err, resources.KindUnavailable) {
					t.Errorf("%+v", o)
				}
				if p.factsErr["user-bob-v1"] != nil || p.decideErr != nil {
					return
				}
				o = judge(p).Enter(t.Context(), alice(), door(t), resources.Question{AccountID: "acct-a-v1"})
				if o.Decision != (resources.Decision{}) || o.ID != "" || !resources.IsKind(o.Err, resources.KindUnavailable) {
					t.Errorf("a call: %+v", o)
				}
			})
		}
	}
}

// TestCallerWhoMayNotAskGetsNoVerdict: the right to ask is judged first, on the caller's facts, and
// the question is not judged.
func TestCallerWhoMayNotAskGetsNoVerdict(t *testing.T) {
	p := &parts{decide: yes, access: resources.Decision{Reason: "no role"}}
	o := one(t, p, alice(), question(t))
	if o.Allowed || o.Reason != "no role" || o.ID == "" || !resources.IsKind(o.Err, resources.KindForbidden) {
		t.Errorf("%+v", o)
	}
	if asked := strings.Join(p.asked, ", "); asked != "facts of acct-a-v1/user-alice-v1/, facts of acct-a-v1/user-bob-v1/proj-a-v1, access" {
		t.Errorf("asked %s", asked)
	}
}

// TestQuestionIsJudgedOnTheSubjectsFacts, and the right to ask on the caller's.
func TestQuestionIsJudgedOnTheSubjectsFacts(t *testing.T) {
	p := &parts{decide: yes, access: yes}
	v := one(t, p, alice(), question(t))
	if v.Err != nil || !v.Allowed || v.AccountRevision != 7 || len(v.ID) != 26 || v.PolicyRevision != "rev-1" {
		t.Fatalf("%+v", v)
	}
	access, decide := p.questions[0], p.questions[1]
	if access.Facts.Subject.UserID != "user-alice-v1" || access.Target != (resources.Target{UserID: "user-bob-v1"}) || access.Action.Resource != "authorization" {
		t.Errorf("access %+v", access)
	}
	if decide.Facts.Subject.UserID != "user-bob-v1" || decide.Target.ProjectID != "proj-a-v1" || decide.Action.Resource != "instance" || decide.Principal.ID != "user-alice-v1" {
		t.Errorf("decide %+v", decide)
	}
	p.decide = resources.Decision{Reason: "no role"}
	if v := one(t, p, alice(), question(t)); v.Err != nil || v.Allowed || v.ID == "" {
		t.Errorf("a denied question is a verdict: %+v", v)
	}
}

// TestServiceIsLookedForInNoAccount, and a public route asks for no facts at all.
func TestServiceIsLookedForInNoAccount(t *testing.T) {
	p := &parts{access: yes}
	service := &resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}
	if o := judge(p).Enter(t.Context(), service, door(t), resources.Question{AccountID: "acct-a-v1"}); o.Err != nil || !o.Allowed || o.ID == "" {
		t.Errorf("%+v", o)
	}
	if p.asked[0] != "facts of acct-a-v1//" {
		t.Errorf("asked %q", p.asked)
	}
	p.asked = nil
	public := row(t, resources.Route{Path: "/open", Access: []string{"public"}})
	if o := judge(p).Enter(t.Context(), &resources.Principal{}, public, resources.Question{}); o.Err != nil || o.ID != "" || len(p.asked) != 1 {
		t.Errorf("%+v, asked %q", o, p.asked)
	}
}

// TestRevisionOfAnAccountIsForItsMembers guarantees that members and services get the account's revision. Anybody else
// gets 0, as for an unknown account.
func TestRevisionOfAnAccountIsForItsMembers(t *testing.T) {
	p := &parts{decide: yes, access: yes}
	for name, c := range map[string]struct {
		caller  resources.Principal
		account string
		want    int64
	}{
		"a member":               {*alice(), "acct-a-v1", 7},
		"a user of another":      {*alice(), "acct-b-v1", 0},
		"a service":              {resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}, "acct-b-v1", 7},
		"nobody":                 {resources.Principal{Kind: resources.PrincipalNone, AccountID: "acct-a-v1"}, "acct-a-v1", 0},
		"a caller of no kind":    {resources.Principal{AccountID: "acct-a-v1"}, "acct-a-v1", 0},
		"a user of no account":   {resources.Principal{Kind: resources.PrincipalUser, ID: "user-x-v1"}, "acct-a-v1", 0},
		"a service with a place": {resources.Principal{Kind: resources.PrincipalService, ID: "service-a", AccountID: "acct-a-v1"}, "acct-b-v1", 7},
	} {
		q := question(t)
		q.AccountID = c.account
		if o := one(t, p, &c.caller, q); o.Err != nil || o.AccountRevision != c.want {
			t.Errorf("%s asks: %+v", name, o)
		}
		if o := judge(p).Enter(t.Context(), &c.caller, door(t), resources.Question{AccountID: c.account}); o.Err != nil || o.AccountRevision != c.want {
			t.Errorf("%s enters: %+v", name, o)
		}
	}
}

// TestADenialThatSomebodyElseAsksAboutSaysWhy guarantees that users, and nobody else, get the reason of the question
// about the caller. If that question is allowed, the denial keeps its own reason. Neither lets anybody in.
func TestADenialThatSomebodyElseAsksAboutSaysWhy(t *testing.T) {
	said, service := resources.Decision{Reason: "of the question"}, &resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}
	for name, c := range map[string]struct {
		caller  *resources.Principal
		subject string
		action  string
		decide  resources.Decision
		err     error
		want    string
	}{
		"a user":             {alice(), "user-alice-v1", "account:role:read", said, nil, "of the question"},
		"nobody asks":        {alice(), "", "account:role:read", said, nil, "of the call"},
		"a service":          {service, "service-a", "account:role:read", said, nil, "of the call"},
		"without an action":  {alice(), "user-alice-v1", "", said, nil, "of the call"},
		"the question turns": {alice(), "user-alice-v1", "account:role:read", yes, nil, "of the call"},
		"no answer":          {alice(), "user-alice-v1", "account:role:read", yes, errors.New("broken"), ""},
	} {
		p, log := &parts{access: resources.Decision{Reason: "of the call"}, decide: c.decide, decideErr: c.err}, &recorder{}
		j := judge(p)
		j.Log = log
		r := row(t, resources.Route{Path: "/x", Action: c.action})
		q := r.Question("acct-a-v1", resources.Target{}, nil)
		q.SubjectID = c.subject
		o := j.Enter(t.Context(), c.caller, r, q)
		if o.Allowed || o.Reason != c.want || resources.IsKind(o.Err, resources.KindForbidden) != (c.err == nil) || resources.IsKind(o.Err, resources.KindUnavailable) == (c.err == nil) {
			t.Errorf("%s: %+v", name, o)
		}
		if last := log.judgements[len(log.judgements)-1]; c.err == nil && (last.ID != o.ID || last.Decision.Reason != o.Reason) || len(log.judgements) == 2 && last.ParentID != log.judgements[0].ID {
			t.Errorf("%s: recorded %+v", name, log.judgements)
		}
	}
}

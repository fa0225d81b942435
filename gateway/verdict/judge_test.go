package verdict_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// many are what questions that are asked together are judged with; each can be made to fail.
type many struct {
	parts
	mu       sync.Mutex // of gathered: facts of several accounts are read at once
	gathered [][]resources.About
	// gathering, where it is not nil, is called before the facts of an account are given.
	gathering func(ctx context.Context, account string) error
	homes     map[string]string
	looked    []string
	err       error
	homeErr   error
	short     bool
	app       resources.AppDecision
	appErr    error
	byNobody  bool
	asked     []resources.Question
	log       *recorder
}

func (m *many) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	if m.gathering != nil {
		if err := m.gathering(ctx, account); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gathered = append(m.gathered, slices.Clone(pairs))
	for i, pair := range pairs {
		facts[i] = resources.Facts{Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: pair.UserID}, ProjectState: "state of " + pair.ProjectID}
	}
	if m.short {
		facts[len(facts)-1] = resources.Facts{}
	}
	return m.err
}

func (m *many) Homes(_ context.Context, users []string) ([]string, error) {
	m.looked = append(m.looked, users...)
	out := make([]string, len(users))
	for i, user := range users {
		out[i] = m.homes[user]
	}
	return out, m.homeErr
}

func (m *many) AccessByUser(string) bool { return !m.byNobody }

func (m *many) App(resourceType string) (resources.App, bool) {
	return resources.App{Name: "todos"}, resourceType == "todo"
}

func (m *many) DecideApp(_ context.Context, q resources.Question) (resources.AppDecision, error) {
	m.asked = append(m.asked, q)
	return m.app, m.appErr
}

// judge counts how often a tree is pinned.
func (m *many) judge(pins *int) *verdict.Judge {
	j := judge(&m.parts)
	j.Pin, j.Facts = func() verdict.Tree { *pins++; return m }, m
	if m.log != nil {
		j.Log = m.log
	}
	return j
}

// item is a question about a user and a project.
func item(t *testing.T, user, account, project string) resources.Question {
	t.Helper()
	q := question(t)
	q.SubjectID, q.AccountID, q.Target.ProjectID = user, account, project
	return q
}

// ask asks the questions as alice and returns the outcomes.
func (m *many) ask(t *testing.T, questions ...resources.Question) (out []verdict.Outcome, err error) {
	t.Helper()
	var pins int
	out, err = m.judge(&pins).Judge(t.Context(), alice(), door(t), questions, nil)
	if pins != 1 {
		t.Errorf("%d trees for one batch", pins)
	}
	return out, err
}

// recorder keeps every verdict.
type recorder struct {
	judgements []*resources.Judgement
	fails      error
}

func (r *recorder) Record(_ context.Context, judgements ...*resources.Judgement) error {
	r.judgements = append(r.judgements, judgements...)
	return r.fails
}

// TestNoErrorOfSeveralAllows, even beside a decision that allows: facts fail the batch, policy its item.
func TestNoErrorOfSeveralAllows(t *testing.T) {
	broken := errors.New("broken")
	for name, m := range map[string]*many{"an error": {err: broken}, "a missing fact": {short: true}} {
		m.parts = parts{decide: yes, access: yes}
		if out, err := m.ask(t, item(t, "user-bob-v1", "acct-a-v1", "")); len(out) > 0 || !resources.IsKind(err, resources.KindUnavailable) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	app := item(t, "user-bob-v1", "acct-a-v1", "")
	app.App = &resources.Entities{ResourceType: "todo"}
	for name, c := range map[string]struct {
		m    *many
		item resources.Question
	}{
		"access":   {&many{parts: parts{decide: yes, access: yes, accessErr: broken}}, item(t, "user-bob-v1", "acct-a-v1", "")},
		"decision": {&many{parts: parts{decide: yes, access: yes, decideErr: broken}}, item(t, "user-bob-v1", "acct-a-v1", "")},
		"app":      {&many{parts: parts{access: yes}, app: resources.AppDecision{Decision: yes}, appErr: broken}, app},
	} {
		out, err := c.m.ask(t, c.item)
		if err != nil || len(out) != 1 || out[0].Allowed || !resources.IsKind(out[0].Err, resources.KindUnavailable) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	odd := &many{parts: parts{access: yes}, app: resources.AppDecision{Decision: yes}, appErr: resources.BadRequest()}
	if out, err := odd.ask(t, app); err != nil || len(out) != 1 || out[0].Allowed || !resources.IsKind(out[0].Err, resources.KindBadRequest) {
		t.Errorf("what no app is given: %+v, %v", out, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var pins int
	m := &many{parts: parts{decide: yes, access: yes}}
	out, err := m.judge(&pins).Judge(ended, alice(), door(t), []resources.Question{item(t, "user-bob-v1", "acct-a-v1", "")}, nil)
	if out != nil || !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("after the end of the request: %+v, %v", out, err)
	}
}

// TestQuestionsAreJudgedAlone: the right to ask comes first, what is known to be denied asks no policy, and the failure of one
// leaves the others their own verdicts.
func TestQuestionsAreJudgedAlone(t *testing.T) {
	denied, app := item(t, "", "acct-a-v1", ""), item(t, "user-bob-v1", "acct-a-v1", "")
	denied.Denied, app.App = "there is no such thing", &resources.Entities{ResourceType: "todo"}
	for name, failed := range map[string]error{"is broken": errors.New("broken"), "is not a question": resources.BadRequest()} {
		m := &many{parts: parts{decide: yes, access: yes}, app: resources.AppDecision{Decision: yes}, appErr: failed, log: &recorder{}}
		out, err := m.ask(t, denied, item(t, "user-bob-v1", "acct-a-v1", ""), app, item(t, "user-bob-v1", "acct-a-v1", ""), denied)
		if err != nil || len(out) != 5 {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		for _, i := range []int{0, 4} {
			if o := out[i]; o.Allowed || o.Err != nil || o.Reason != denied.Denied || o.ID == "" || o.PolicyRevision != "rev-1" || o.AccountRevision != 7 {
				t.Errorf("%s: %d: %+v", name, i, o)
			}
		}
		for _, i := range []int{1, 3} {
			if o := out[i]; !o.Allowed || o.Err != nil {
				t.Errorf("%s: %d: %+v", name, i, o)
			}
		}
		if o := out[2]; o.Allowed || o.Err == nil || o.ID != "" || len(m.log.judgements) != 4 {
			t.Errorf("%s: %+v, %d records", name, o, len(m.log.judgements))
		}
	}
	m := &many{parts: parts{decide: yes, access: resources.Decision{Reason: "no role"}}}
	out, err := m.ask(t, denied, item(t, "user-bob-v1", "acct-a-v1", ""))
	ids := map[string]bool{}
	for _, o := range out {
		ids[o.ID] = true
		if err != nil || o.Allowed || !resources.IsKind(o.Err, resources.KindForbidden) || o.Reason != "no role" || o.ID == "" {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if slices.Contains(m.parts.asked, "decide") || len(ids) != 2 {
		t.Errorf("asked %q, %d ids", m.parts.asked, len(ids))
	}
}

// TestNoQuestionIsJudgedWithoutADoor guarantees that the door's action, the right to ask, is judged for every question.
// A door that refuses everybody gets no question judged.
func TestNoQuestionIsJudgedWithoutADoor(t *testing.T) {
	p := &parts{decide: yes, access: yes}
	if out, err := judge(p).Judge(t.Context(), alice(), nil, []resources.Question{question(t)}, nil); out != nil || !resources.IsKind(err, resources.KindUnavailable) || len(p.asked) > 0 {
		t.Errorf("%+v, %v, asked %q", out, err, p.asked)
	}
	p.access = resources.Decision{}
	if o := judge(p).One(t.Context(), alice(), row(t, resources.Route{Path: "/ask"}), question(t)); o.Allowed || o.Err == nil || slices.Contains(p.asked, "decide") {
		t.Errorf("%+v, asked %q", o, p.asked)
	}
}

// TestAPanicLeavesNoVerdict, neither an outcome nor a record.
func TestAPanicLeavesNoVerdict(t *testing.T) {
	m := &many{parts: parts{access: yes}, log: &recorder{}} // its tree has no answer for an app's type
	app := item(t, "user-bob-v1", "acct-a-v1", "")
	app.App = &resources.Entities{ResourceType: "todo"}
	var pins int
	j, count := m.judge(&pins), 0
	j.Pin = func() verdict.Tree { return &m.parts }
	defer func() {
		if recover() == nil || count > 0 || len(m.log.judgements) > 0 {
			t.Errorf("%d outcomes, %d records", count, len(m.log.judgements))
		}
	}()
	out, _ := j.Judge(t.Context(), alice(), door(t), []resources.Question{item(t, "user-bob-v1", "acct-a-v1", ""), app}, nil)
	count = len(out)
}

// TestPolicyThatTakesTooLongAllowsNothing: the time of the request is over, and what policy says then counts no more.
func TestPolicyThatTakesTooLongAllowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &many{parts: parts{decide: yes, access: yes}, log: &recorder{}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var pins int
		out, err := m.judge(&pins).Judge(ctx, alice(), door(t), []resources.Question{item(t, "user-bob-v1", "acct-a-v1", "")}, func(*verdict.Outcome) bool {
			time.Sleep(2 * time.Second) // of the bubble
			return false
		})
		if err != nil || len(out) != 1 {
			t.Errorf("%+v, %v", out, err)
		}
		out, err = m.judge(&pins).Judge(ctx, alice(), door(t), []resources.Question{item(t, "user-bob-v1", "acct-a-v1", "")}, nil)
		if out != nil || !resources.IsKind(err, resources.KindUnavailable) || len(m.log.judgements) != 1 {
			t.Errorf("%+v, %v, %d records", out, err, len(m.log.judgements))
		}
	})
}

// TestWhatCannotBeRecordedIsNotTold, of one question and of several.
func TestWhatCannotBeRecordedIsNotTold(t *testing.T) {
	m := &many{parts: parts{decide: yes, access: yes}, log: &recorder{fails: errors.New("full")}}
	if out, err := m.ask(t, item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "user-eve-v1", "acct-a-v1", "")); out != nil || !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("%+v, %v", out, err)
	}
	var pins int
	if o := m.judge(&pins).One(t.Context(), alice(), door(t), question(t)); o.Allowed || o.ID != "" || !resources.IsKind(o.Err, resources.KindUnavailable) {
		t.Errorf("%+v", o)
	}
	if o := m.judge(&pins).Enter(t.Context(), alice(), door(t), question(t)); o.Allowed || o.ID != "" || !resources.IsKind(o.Err, resources.KindUnavailable) {
		t.Errorf("a call: %+v", o)
	}
}

// TestJudgingEndsWhenNobodyWantsMore, before it gathers the facts of what follows, and records what was judged once each.
func TestJudgingEndsWhenNobodyWantsMore(t *testing.T) {
	m, pins, seen := &many{parts: parts{decide: yes, access: yes}, log: &recorder{}}, 0, 0
	questions := []resources.Question{item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "user-bob-v1", "acct-b-v1", "")}
	out, err := m.judge(&pins).Judge(t.Context(), alice(), door(t), questions, func(*verdict.Outcome) bool { seen++; return true })
	if err != nil || seen != 1 || len(out) != 1 || len(m.gathered) != 1 || len(m.log.judgements) != 1 || m.log.judgements[0].ID != out[0].ID {
		t.Errorf("%d outcomes, gathered %v, recorded %d, %v", seen, m.gathered, len(m.log.judgements), err)
	}
}

// TestQuietVerdictsHaveNoIDAndNoRecord.
func TestQuietVerdictsHaveNoIDAndNoRecord(t *testing.T) {
	m, pins := &many{parts: parts{decide: yes, access: yes}, log: &recorder{}}, 0
	quiet := m.judge(&pins).Quiet()
	for _, o := range []verdict.Outcome{
		quiet.One(t.Context(), alice(), door(t), question(t)), quiet.Enter(t.Context(), alice(), door(t), question(t)),
		quiet.MayAsk(t.Context(), alice(), door(t), "acct-a-v1", "user-bob-v1"),
	} {
		if !o.Allowed || o.ID != "" || len(m.log.judgements) > 0 {
			t.Errorf("%+v, %d records", o, len(m.log.judgements))
		}
	}
}

// TestAPinnedJudgeStaysWithItsTree guarantees that a pinned judge keeps its tree and its time while others come into
// force between two of its calls.
func TestAPinnedJudgeStaysWithItsTree(t *testing.T) {
	first, second, now := &parts{decide: yes, access: yes}, &parts{}, time.UnixMilli(5)
	force := first
	j := judge(first)
	j.Pin, j.Now = func() verdict.Tree { return force }, func() time.Time { now = now.Add(time.Second); return now }
	pinned := j.Pinned()
	force = second
	for range 2 {
		if o := pinned.One(t.Context(), alice(), door(t), question(t)); !o.Allowed {
			t.Errorf("%+v", o)
		}
		if o := j.One(t.Context(), alice(), door(t), question(t)); o.Allowed {
			t.Errorf("by the tree in force: %+v", o)
		}
	}
	for _, q := range first.questions {
		if q.Now != first.questions[0].Now {
			t.Errorf("judged at %d and at %d", first.questions[0].Now, q.Now)
		}
	}
}

// TestAppDecides guarantees that an app judges the sent properties and its subject's facts. Only services may ask about
// a subject that is not a user.
func TestAppDecides(t *testing.T) {
	m := &many{parts: parts{access: yes}, app: resources.AppDecision{Decision: yes, Context: []resources.Member{{Name: "x", Value: []byte("1")}}}}
	question, nobody := item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "", "acct-a-v1", "")
	question.App = &resources.Entities{ResourceType: "todo", Subject: []byte(`{"id":"bob"}`)}
	nobody.App = question.App
	m.log = &recorder{}
	out, err := m.ask(t, question, nobody)
	if err != nil || !out[0].Allowed || len(out[0].Context) != 1 || len(m.asked) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	q := m.asked[0]
	if q.Facts.Subject.UserID != "user-bob-v1" || q.AccountID != "acct-a-v1" || q.Principal.ID != "user-alice-v1" || q.Now == 0 || string(q.App.Subject) != `{"id":"bob"}` {
		t.Errorf("%+v", q)
	}
	if first, second := m.questions[0], m.questions[1]; first.AccountID != "acct-a-v1" || first.Target.UserID != "user-bob-v1" || second.AccountID != "" || second.Target.UserID != "" {
		t.Errorf("the right to ask about no user was judged in an account: %+v", m.questions)
	}
	if judgements := m.log.judgements; len(judgements) != 2 || judgements[0].Path != "apps/todos/decision" || judgements[0].Question.App == nil || judgements[0].Question.Facts.Subject == nil || len(judgements[0].Context) != 1 {
		t.Errorf("recorded %+v", judgements)
	}
	m = &many{parts: parts{access: resources.Decision{Reason: "no right"}}, log: &recorder{}}
	if _, err := m.ask(t, nobody); err != nil || len(m.log.judgements) != 1 || m.log.judgements[0].Path != resources.PathAccess || m.log.judgements[0].Question.AccountID != m.questions[0].AccountID {
		t.Errorf("a refusal is recorded as %+v, judged as %+v, %v", m.log.judgements, m.questions, err)
	}
}

// TestHomeIsLookedUpForWhoMayAsk: for a service with the right, and for nobody else but in what the caller is known
// by. The right is judged where no account is in question.
func TestHomeIsLookedUpForWhoMayAsk(t *testing.T) {
	homes, service := map[string]string{"user-bob-v1": "acct-b-v1"}, &resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}
	for name, c := range map[string]struct {
		caller *resources.Principal
		parts  parts
		looked int
		homes  map[string]string
		err    bool
	}{
		"a service":               {service, parts{access: yes}, 3, map[string]string{"user-bob-v1": "acct-b-v1", "user-ghost-v1": "", "user-alice-v1": ""}, false},
		"a service without":       {service, parts{access: resources.Decision{Reason: "no"}}, 0, map[string]string{"user-bob-v1": "", "user-ghost-v1": ""}, false},
		"a service without rules": {service, parts{access: yes, accessErr: errors.New("broken")}, 0, map[string]string{"user-bob-v1": ""}, true},
		"a user":                  {alice(), parts{access: yes}, 0, map[string]string{"user-bob-v1": "", "user-alice-v1": "acct-a-v1"}, false},
		"nobody":                  {&resources.Principal{AccountID: "acct-a-v1"}, parts{access: yes}, 0, map[string]string{"": "", "user-bob-v1": ""}, false},
	} {
		for _, byNobody := range []bool{false, true} {
			m, pins := &many{parts: c.parts, homes: homes, byNobody: byNobody}, 0
			got, err := m.judge(&pins).Homes(t.Context(), c.caller, door(t), slices.Sorted(maps.Keys(c.homes)))
			if (err != nil) != c.err || len(m.looked) != c.looked {
				t.Errorf("%s: %v, looked up %q", name, err, m.looked)
			}
			for user, want := range c.homes {
				if got[user] != want {
					t.Errorf("%s, %s: %q", name, user, got[user])
				}
			}
			for i, asked := range m.parts.asked {
				if q := m.questions[i]; asked != "access" || q.AccountID != "" || q.Facts.Subject == nil || byNobody && (i > 0 || q.Target.UserID != "") {
					t.Errorf("%s: %s %+v", name, asked, q)
				}
			}
		}
	}
	m, pins := &many{parts: parts{access: yes}, homeErr: errors.New("broken")}, 0
	if got, err := m.judge(&pins).Homes(t.Context(), service, door(t), []string{"user-eve-v1"}); got != nil || !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTheRightToAskIsJudgedOnce in each account where policy looks at no user, and what it is holds for all of
// the account; else for each user.
func TestTheRightToAskIsJudgedOnce(t *testing.T) {
	questions := []resources.Question{item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "user-eve-v1", "acct-a-v1", ""), item(t, "user-bob-v1", "acct-b-v1", "")}
	for byNobody, want := range map[bool]int{false: 3, true: 2} {
		for _, may := range []resources.Decision{yes, {Reason: "no right"}} {
			m := &many{parts: parts{decide: yes, access: may}, byNobody: byNobody}
			out := must.Get(m.ask(t, questions...))(t)
			for i, o := range out {
				if o.Allowed != may.Allowed || resources.IsKind(o.Err, resources.KindForbidden) == may.Allowed {
					t.Errorf("%d: %+v", i, o)
				}
			}
			if rights := strings.Count(strings.Join(m.parts.asked, " ")+" ", "access "); rights != want {
				t.Errorf("%d rights, want %d", rights, want)
			}
		}
	}
}

package verdict_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// many are what batches work with; each can be made to fail.
type many struct {
	parts
	mu       sync.Mutex
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
	byUser    func(kind string) bool
	asked     []resources.AppQuestion
}

func (m *many) FactsOf(ctx context.Context, account string, of []resources.About) ([]resources.Facts, error) {
	if m.gathering != nil {
		if err := m.gathering(ctx, account); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gathered = append(m.gathered, of)
	var out []resources.Facts
	for _, about := range of {
		out = append(out, resources.Facts{Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: about.UserID}, ProjectState: "state of " + about.ProjectID})
	}
	if m.short {
		out = out[1:]
	}
	return out, m.err
}

func (m *many) Homes(_ context.Context, users []string) ([]string, error) {
	m.looked = append(m.looked, users...)
	out := make([]string, len(users))
	for i, user := range users {
		out[i] = m.homes[user]
	}
	return out, m.homeErr
}

func (m *many) App(resourceType string) (resources.App, bool) {
	return resources.App{}, resourceType == "todo"
}

func (m *many) DecideApp(_ context.Context, q resources.AppQuestion) (resources.AppDecision, error) {
	m.asked = append(m.asked, q)
	return m.app, m.appErr
}

// batches counts how often a tree is pinned.
func batches(m *many, pins *int) *verdict.Batches {
	return &verdict.Batches{
		Pin: func() verdict.Pinned {
			*pins++
			return verdict.Pinned{Policy: &m.parts, Revision: "rev-1", Apps: m, AccessByUser: m.byUser}
		},
		Facts: m, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now,
	}
}

// item is a question about a user and a project.
func item(t *testing.T, user, account, project string) verdict.Item {
	t.Helper()
	q := question(t)
	q.SubjectID, q.AccountID, q.Target.ProjectID = user, account, project
	return verdict.Item{Question: q}
}

// ask asks the items as alice and returns the outcomes.
func (m *many) ask(t *testing.T, items ...verdict.Item) (out []verdict.Outcome, err error) {
	t.Helper()
	var pins int
	b := batches(m, &pins).Begin(alice(), question(t).Door)
	err = b.Ask(t.Context(), items, func(o verdict.Outcome) bool { out = append(out, o); return true })
	if pins != 1 {
		t.Errorf("%d trees for one batch", pins)
	}
	return out, err
}

// TestBatchGathersFactsOnce for each account, of each user and project once, and asks for each right once.
func TestBatchGathersFactsOnce(t *testing.T) {
	m := &many{parts: parts{decide: yes, access: yes}}
	var items []verdict.Item
	for range 3 {
		items = append(items, item(t, "user-bob-v1", "acct-a-v1", "proj-1"), item(t, "user-bob-v1", "acct-a-v1", "proj-2"), item(t, "user-eve-v1", "acct-b-v1", ""))
	}
	out, err := m.ask(t, items...)
	if err != nil || len(out) != 9 {
		t.Fatalf("%d outcomes, %v", len(out), err)
	}
	ids := map[string]bool{}
	told := map[string]int64{"acct-a-v1": 7} // the asker's own alone
	for i, o := range out {
		ids[o.ID] = true
		if o.Err != nil || !o.Allowed || o.AccountRevision != told[items[i].AccountID] || o.PolicyRevision != "rev-1" {
			t.Errorf("%d: %+v", i, o)
		}
	}
	want := [][]resources.About{
		{{UserID: "user-alice-v1"}, {UserID: "user-bob-v1", ProjectID: "proj-1"}, {UserID: "user-bob-v1", ProjectID: "proj-2"}},
		{{UserID: "user-alice-v1"}, {UserID: "user-eve-v1"}},
	}
	if len(ids) != 9 || len(m.gathered) != 2 || !slices.Equal(m.gathered[0], want[0]) || !slices.Equal(m.gathered[1], want[1]) {
		t.Errorf("%d ids, gathered %v", len(ids), m.gathered)
	}
	var rights int
	for i, asked := range m.parts.asked {
		q := m.questions[i]
		if asked == "access" {
			rights++
			continue
		}
		if q.Facts.Subject.UserID != items[i-rights].SubjectID || q.Facts.ProjectState != "state of "+q.Target.ProjectID || q.Now != m.questions[0].Now {
			t.Errorf("%d: %+v", i, q)
		}
	}
	if rights != 2 {
		t.Errorf("the right to ask was judged %d times", rights)
	}
}

// TestNoErrorOfABatchAllows, even beside a decision that allows: facts fail the batch, policy its item.
func TestNoErrorOfABatchAllows(t *testing.T) {
	broken := errors.New("broken")
	for name, m := range map[string]*many{"an error": {err: broken}, "too few facts": {short: true}} {
		m.parts = parts{decide: yes, access: yes}
		if out, err := m.ask(t, item(t, "user-bob-v1", "acct-a-v1", "")); len(out) > 0 || !resources.IsKind(err, resources.KindUnavailable) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	app := item(t, "user-bob-v1", "acct-a-v1", "")
	app.App = &resources.AppQuestion{ResourceType: "todo"}
	for name, c := range map[string]struct {
		m    *many
		item verdict.Item
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
	err := batches(m, &pins).Begin(alice(), question(t).Door).Ask(ended, []verdict.Item{item(t, "user-bob-v1", "acct-a-v1", "")}, func(verdict.Outcome) bool {
		t.Error("an outcome after the end of the request")
		return true
	})
	if !resources.IsKind(err, resources.KindUnavailable) {
		t.Error(err)
	}
}

// TestItemsAreJudgedAlone: the right to ask comes first, what is known to be denied asks no policy, and
// what is no question asks nothing.
func TestItemsAreJudgedAlone(t *testing.T) {
	denied, bad := item(t, "", "acct-a-v1", ""), item(t, "user-bob-v1", "acct-a-v1", "")
	denied.Denied, bad.Err = "there is no such thing", resources.BadRequest()
	m := &many{parts: parts{decide: yes, access: yes}}
	out, err := m.ask(t, denied, bad, item(t, "user-bob-v1", "acct-a-v1", ""))
	if err != nil || out[0].Allowed || out[0].Reason != denied.Denied || out[0].ID == "" || out[0].PolicyRevision != "rev-1" || out[0].AccountRevision != 7 ||
		!resources.IsKind(out[1].Err, resources.KindBadRequest) || !out[2].Allowed {
		t.Errorf("%+v, %v", out, err)
	}
	m = &many{parts: parts{decide: yes, access: resources.Decision{Reason: "no role"}}}
	out, err = m.ask(t, denied, item(t, "user-bob-v1", "acct-a-v1", ""))
	for _, o := range out {
		if err != nil || o.Allowed || !resources.IsKind(o.Err, resources.KindForbidden) || o.Reason != "no role" || o.ID == "" {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if slices.Contains(m.parts.asked, "decide") {
		t.Error("policy was asked for a caller who may not ask")
	}
}

// TestABatchAboutManyAccountsGathersSeveralAtOnce: on some engines each costs several round trips. It fails as a whole where
// the facts of one can't be had.
func TestABatchAboutManyAccountsGathersSeveralAtOnce(t *testing.T) {
	m := &many{parts: parts{decide: yes, access: yes}}
	var items []verdict.Item
	for n := range 100 {
		items = append(items, item(t, "user-bob-v1", fmt.Sprintf("acct-%d-v1", n), ""))
	}
	arrived, enough := make(chan struct{}, len(items)), make(chan struct{})
	m.gathering = func(ctx context.Context, account string) error {
		if account == "acct-0-v1" { // alone
			return nil
		}
		if arrived <- struct{}{}; len(arrived) == 16 {
			close(enough)
		}
		select {
		case <-enough:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var pins int
	told := 0
	err := batches(m, &pins).Begin(alice(), question(t).Door).Ask(ctx, items, func(o verdict.Outcome) bool {
		if told++; o.Err != nil {
			t.Error(o.Err)
		}
		return true
	})
	if err != nil || told != len(items) || len(m.gathered) != len(items) {
		t.Errorf("%d outcomes, %d accounts, %v", told, len(m.gathered), err)
	}
	broken := errors.New("broken")
	m.gathering = func(_ context.Context, account string) error {
		if account == "acct-57-v1" {
			return broken
		}
		return nil
	}
	if _, err := m.ask(t, items...); !resources.IsKind(err, resources.KindUnavailable) || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestBatchEndsWhenNobodyWantsMore, before it gathers the facts of what follows.
func TestBatchEndsWhenNobodyWantsMore(t *testing.T) {
	m, pins, seen := &many{parts: parts{decide: yes, access: yes}}, 0, 0
	items := []verdict.Item{item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "user-bob-v1", "acct-b-v1", "")}
	err := batches(m, &pins).Begin(alice(), question(t).Door).Ask(t.Context(), items, func(verdict.Outcome) bool { seen++; return false })
	if err != nil || seen != 1 || len(m.gathered) != 1 {
		t.Errorf("%d outcomes, gathered %v, %v", seen, m.gathered, err)
	}
}

// TestAppDecides on what was sent and on the facts of its subject; only services may ask about a
// subject that is no user.
func TestAppDecides(t *testing.T) {
	m := &many{parts: parts{access: yes}, app: resources.AppDecision{Decision: yes, Context: []resources.Member{{Name: "x", Value: []byte("1")}}}}
	about, nobody := item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "", "acct-a-v1", "")
	about.App = &resources.AppQuestion{ResourceType: "todo", Subject: []byte(`{"id":"bob"}`)}
	nobody.App = about.App
	out, err := m.ask(t, about, nobody)
	if err != nil || !out[0].Allowed || len(out[0].Context) != 1 || len(m.asked) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	q := m.asked[0]
	if q.Facts.Subject.UserID != "user-bob-v1" || q.AccountID != "acct-a-v1" || q.Principal.ID != "user-alice-v1" || q.Now == 0 || string(q.Subject) != `{"id":"bob"}` {
		t.Errorf("%+v", q)
	}
	if first, second := m.questions[0], m.questions[1]; first.AccountID != "acct-a-v1" || first.Target.UserID != "user-bob-v1" || second.AccountID != "" || second.Target.UserID != "" {
		t.Errorf("the right to ask about no user was judged in an account: %+v", m.questions)
	}
}

// TestHomeIsLookedUpForWhoMayAsk: once for a service with the right, and for nobody else but in what the caller is known
// by. The right is judged where no account is in question.
func TestHomeIsLookedUpForWhoMayAsk(t *testing.T) {
	homes, service := map[string]string{"user-bob-v1": "acct-b-v1"}, resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}
	for name, c := range map[string]struct {
		caller resources.Principal
		parts  parts
		looked int
		homes  map[string]string
		err    bool
	}{
		"a service":               {service, parts{access: yes}, 2, map[string]string{"user-bob-v1": "acct-b-v1", "user-ghost-v1": "", "user-alice-v1": ""}, false},
		"a service without":       {service, parts{access: resources.Decision{Reason: "no"}}, 0, map[string]string{"user-bob-v1": "", "user-ghost-v1": ""}, false},
		"a service without rules": {service, parts{access: yes, accessErr: errors.New("broken")}, 0, map[string]string{"user-bob-v1": ""}, true},
		"a user":                  {alice(), parts{access: yes}, 0, map[string]string{"user-bob-v1": "", "user-alice-v1": "acct-a-v1"}, false},
		"nobody":                  {resources.Principal{AccountID: "acct-a-v1"}, parts{access: yes}, 0, map[string]string{"": "", "user-bob-v1": ""}, false},
	} {
		m, pins := &many{parts: c.parts, homes: homes}, 0
		b := batches(m, &pins).Begin(c.caller, question(t).Door)
		for user, want := range c.homes {
			if home, err := b.Home(t.Context(), user); home != want || (err != nil) != c.err {
				t.Errorf("%s, %s: %q, %v", name, user, home, err)
			}
		}
		if len(m.looked) < c.looked || c.looked == 0 && len(m.looked) > 0 {
			t.Errorf("%s: looked up %q", name, m.looked)
		}
		for i, asked := range m.parts.asked {
			if q := m.questions[i]; asked != "access" || q.AccountID != "" || q.Facts.Subject == nil {
				t.Errorf("%s: %s %+v", name, asked, q)
			}
		}
	}
}

// TestHomeIsLookedUpOnce for each user.
func TestHomeIsLookedUpOnce(t *testing.T) {
	m, pins := &many{parts: parts{access: yes}, homes: map[string]string{"user-bob-v1": "acct-b-v1"}}, 0
	b := batches(m, &pins).Begin(resources.Principal{Kind: resources.PrincipalService, ID: "service-a"}, question(t).Door)
	for user, want := range map[string]string{"user-bob-v1": "acct-b-v1", "user-ghost-v1": ""} {
		for range 2 {
			if home, err := b.Home(t.Context(), user); home != want || err != nil {
				t.Errorf("%s: %q, %v", user, home, err)
			}
		}
	}
	if len(m.looked) != 2 {
		t.Errorf("looked up %q", m.looked)
	}
	m.homeErr = errors.New("broken")
	if home, err := b.Home(t.Context(), "user-eve-v1"); home != "" || !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("%q, %v", home, err)
	}
	if b.Claims("document") || !b.Claims("todo") || b.Revision() != "rev-1" {
		t.Error("the batch does not know its tree")
	}
}

// TestTheRightToAskIsJudgedOnce in each account where policy looks at no user, and what it is holds for all of
// the account; else for each user. No users means each.
func TestTheRightToAskIsJudgedOnce(t *testing.T) {
	items := []verdict.Item{item(t, "user-bob-v1", "acct-a-v1", ""), item(t, "user-eve-v1", "acct-a-v1", ""), item(t, "user-bob-v1", "acct-b-v1", "")}
	for name, c := range map[string]struct {
		byUser func(string) bool
		rights int
	}{
		"unknown": {nil, 3}, "by user": {func(kind string) bool { return kind == resources.PrincipalUser }, 3}, "by no user": {func(string) bool { return false }, 2},
	} {
		for _, may := range []resources.Decision{yes, {Reason: "no right"}} {
			m := &many{parts: parts{decide: yes, access: may}, byUser: c.byUser}
			out, err := m.ask(t, items...)
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range out {
				if o.Allowed != may.Allowed || resources.IsKind(o.Err, resources.KindForbidden) == may.Allowed {
					t.Errorf("%s, %d: %+v", name, i, o)
				}
			}
			rights := 0
			for _, asked := range m.parts.asked {
				if asked == "access" {
					rights++
				}
			}
			if rights != c.rights {
				t.Errorf("%s: %d rights, want %d", name, rights, c.rights)
			}
		}
	}
}

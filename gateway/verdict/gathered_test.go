package verdict_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestFactsAreGatheredOnce for each account, of each user and project once, and asks for each right once.
func TestFactsAreGatheredOnce(t *testing.T) {
	m := &many{parts: parts{decide: yes, access: yes}}
	var items []resources.Question
	for range 3 {
		items = append(items, item(t, "user-bob-v1", "acct-a-v1", "proj-1"), item(t, "user-bob-v1", "acct-a-v1", "proj-2"), item(t, "user-eve-v1", "acct-b-v1", ""))
	}
	out, err := m.ask(t, items...)
	if err != nil || len(out) != 9 {
		t.Fatalf("%d outcomes, %v", len(out), err)
	}
	ids := map[string]bool{}
	revisions := map[string]int64{"acct-a-v1": 7} // the asker's own alone
	for i, o := range out {
		ids[o.ID] = true
		if o.Err != nil || !o.Allowed || o.AccountRevision != revisions[items[i].AccountID] || o.PolicyRevision != "rev-1" {
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

// TestFactsOfManyAccountsAreGatheredAtOnce: on some engines an account costs several round trips. The questions fail as a
// whole where the facts of one account can't be read.
func TestFactsOfManyAccountsAreGatheredAtOnce(t *testing.T) {
	m := &many{parts: parts{decide: yes, access: yes}}
	var items []resources.Question
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
	out, err := m.judge(&pins).Judge(ctx, alice(), door(t), items, nil)
	if err != nil || len(out) != len(items) || len(m.gathered) != len(items) {
		t.Errorf("%d outcomes, %d accounts, %v", len(out), len(m.gathered), err)
	}
	for _, o := range out {
		if o.Err != nil || !o.Allowed {
			t.Errorf("%+v", o)
		}
	}
	broken := errors.New("broken")
	m.gathering = func(_ context.Context, account string) error {
		if account == "acct-57-v1" {
			return broken
		}
		return nil
	}
	if out, err := m.ask(t, items...); !resources.IsKind(err, resources.KindUnavailable) || !errors.Is(err, broken) || out != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestFactsThatWereGatheredAreUsed, and no others of that account.
func TestFactsThatWereGatheredAreUsed(t *testing.T) {
	m, later, pins := &many{parts: parts{decide: yes, access: yes}}, &many{err: errors.New("too late")}, 0
	j := m.judge(&pins)
	questions := []resources.Question{item(t, "user-bob-v1", "acct-a-v1", "proj-1"), item(t, "user-eve-v1", "acct-a-v1", "")}
	judge, revision, err := j.Gathered(t.Context(), m, alice(), door(t), "acct-a-v1", questions)
	if err != nil || revision != 7 || len(m.gathered) != 1 {
		t.Fatalf("%d, %v, gathered %v", revision, err, m.gathered)
	}
	out, err := judge.Judge(t.Context(), alice(), door(t), questions, nil)
	if err != nil || len(out) != 2 || !out[0].Allowed || !out[1].Allowed || len(m.gathered) != 1 {
		t.Errorf("%+v, %v, gathered %v", out, err, m.gathered)
	}
	if out, err := judge.Judge(t.Context(), alice(), door(t), []resources.Question{item(t, "user-new-v1", "acct-a-v1", "")}, nil); out != nil || !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("not gathered: %+v, %v", out, err)
	}
	if _, _, err := j.Gathered(t.Context(), later, alice(), door(t), "acct-a-v1", questions); !resources.IsKind(err, resources.KindUnavailable) {
		t.Error(err)
	}
}

// TestFactsOfManyAreEachTheirOwn guarantees that each question is judged on its subject's facts, also if there are
// enough subjects for an index.
func TestFactsOfManyAreEachTheirOwn(t *testing.T) {
	m := &many{parts: parts{decide: yes, access: yes}, byNobody: true}
	var questions []resources.Question
	for i := range 300 {
		questions = append(questions, item(t, fmt.Sprintf("user-%d-v1", i%100), fmt.Sprintf("acct-%d-v1", i%3), fmt.Sprint(i%7)))
	}
	if out, err := m.ask(t, questions...); err != nil || len(out) != 300 || len(m.gathered) != 3 {
		t.Fatalf("%d outcomes, %d reads, %v", len(out), len(m.gathered), err)
	}
	i := 0
	for n, asked := range m.parts.asked {
		if q := m.questions[n]; asked == "decide" {
			want := questions[i]
			if i++; q.Facts.Subject.UserID != want.SubjectID || q.Facts.Subject.AccountID != want.AccountID || q.Facts.ProjectState != "state of "+want.Target.ProjectID {
				t.Errorf("%d: %+v on %+v", i, want, q.Facts)
			}
		}
	}
}

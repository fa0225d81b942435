package sqlite_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// TestLateWordOfAnAttemptIsVoid guarantees that an area tells attempts to delete a project apart by
// their marks, in any order.
func TestLateWordOfAnAttemptIsVoid(t *testing.T) {
	const now = resources.Time(1_000_000)
	c := records.NewCollections()
	s := open(t, t.TempDir(), c.Schemas()...)
	defer func() { _ = s.Close() }()
	offset := func(mark int64) resources.Closing {
		return resources.Closing{AccountID: "acct-a-v1", ProjectID: "proj-a-v1", Mark: mark}
	}
	does := func(step func(tx store.Tx) error) bool { return s.Transact(t.Context(), step) == nil }
	closes := func(mark int64, now resources.Time) bool {
		return does(func(tx store.Tx) error { return c.CloseProject(t.Context(), tx, "x", offset(mark), now) })
	}
	opens := func(mark int64) bool {
		return does(func(tx store.Tx) error { return c.OpenProject(t.Context(), tx, "x", offset(mark)) })
	}
	enters := func(area string, now resources.Time) bool {
		return does(func(tx store.Tx) error { return c.EnterProject(t.Context(), tx, area, "acct-a-v1", "proj-a-v1", now) })
	}
	for i, step := range []struct {
		title     string
		got, want bool
	}{
		{"open at first", enters("x", now), true},
		{"the first attempt closes", closes(3, now), true},
		{"closed", enters("x", now+1), false},
		{"another area is open", enters("y", now+1), true},
		{"the same attempt again", closes(3, now), true},
		{"it is given up", opens(3), true},
		{"open again", enters("x", now+1), true},
		{"its closing comes late", closes(3, now), false},
		{"open all the same", enters("x", now+1), true},
		{"the second attempt closes", closes(5, now), true},
		{"the first one's opening comes late", opens(3), true},
		{"closed all the same", enters("x", now+1), false},
		{"closed for two minutes", enters("x", now+2*60_000-1), false},
		{"and not for ever", enters("x", now+2*60_000), true},
	} {
		if step.got != step.want {
			t.Errorf("%d, %s: %v", i, step.title, step.got)
		}
	}
}

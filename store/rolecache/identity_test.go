package rolecache_test

import (
	"context"
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// identify asks for a subject that may be an external id or a partner id.
func (w *world) identify(subject string) (resources.Identity, bool) {
	w.t.Helper()
	return must.Two(w.cache.Identify(w.t.Context(), subject, true, true))(w.t)
}

func TestSubjectIsIdentifiedByWhatItMayBe(t *testing.T) {
	w := newWorld(t)
	want := resources.Identity{ID: user, UUID: "uuid-" + user, AccountID: account, Status: "ACTIVE"}
	for _, c := range []struct {
		subject               string
		byExternal, byPartner bool
		exists                bool
	}{
		{user, true, true, true},
		{user, true, false, true},
		{user, false, true, false},
		{"sub-1", true, true, true},
		{"sub-1", false, true, true},
		{"sub-1", true, false, false},
		{"sub-2", true, true, false},
		{"", true, true, false},
		{"uuid-" + user, true, true, false},
		{user, false, false, false},
	} {
		for range 2 { // cold and warm
			id, exists, err := w.cache.Identify(t.Context(), c.subject, c.byExternal, c.byPartner)
			if err != nil || exists != c.exists || exists && id != want || !exists && id != (resources.Identity{}) {
				t.Errorf("%+v: %+v %t %v", c, id, exists, err)
			}
		}
	}
}

// TestPartnerIDThatMovedIsNotServed guarantees that a partner id no longer identifies its former user: the facts of
// the current revision do not confirm the cached hint.
func TestPartnerIDThatMovedIsNotServed(t *testing.T) {
	w := newWorld(t)
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = other, "ACTIVE" })
	if id, _ := w.identify("sub-1"); id.ID != user {
		t.Fatalf("%+v", id)
	}
	w.set(user, func(u *resources.User) { u.AuthenticationPartnerID = "" })
	if id, exists := w.identify("sub-1"); exists {
		t.Errorf("a partner id that was taken away names %+v", id)
	}
	w.set(second, func(u *resources.User) { u.AuthenticationPartnerID = "sub-1" })
	if id, exists := w.identify("sub-1"); !exists || id.ID != second || id.AccountID != other {
		t.Errorf("a partner id that was moved names %+v, %t", id, exists)
	}
}

// TestUnknownSubjectIsNotRemembered guarantees that the cache finds a new user right after a question about an unknown
// one.
func TestUnknownSubjectIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	if _, exists := w.identify(second); exists {
		t.Fatal("found before it was made")
	}
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
	if id, exists := w.identify(second); !exists || id.ID != second {
		t.Errorf("%+v %t", id, exists)
	}
}

// TestIdentityFollowsTheUser guarantees that an identity has the current status and account, and ends with the user.
func TestIdentityFollowsTheUser(t *testing.T) {
	w := newWorld(t)
	w.identify(user)
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	if id, exists := w.identify(user); !exists || id.Status != "SUSPENDED" {
		t.Errorf("suspended: %+v %t", id, exists)
	}
	w.set(user, func(u *resources.User) { u.AccountID = other })
	if id, exists := w.identify(user); !exists || id.AccountID != other {
		t.Errorf("moved: %+v %t", id, exists)
	}
	w.change(other, func() { delete(w.users, user) })
	if id, exists := w.identify(user); exists {
		t.Errorf("deleted: %+v", id)
	}
}

// TestSubjectOfAStoreThatDoesNotAnswerIsNotLookedFor guarantees that Identify does not look up the subject if the
// barrier fails: the caller waits for one deadline, not for two.
func TestSubjectOfAStoreThatDoesNotAnswerIsNotLookedFor(t *testing.T) {
	w := newWorld(t)
	w.freshness = func(context.Context) (store.Freshness, error) { return store.Freshness{}, store.ErrUnavailable }
	views := w.counted()
	if _, exists, err := w.cache.Identify(t.Context(), user, true, true); exists || !errors.Is(err, store.ErrUnavailable) || views.Load() != 0 {
		t.Errorf("%t %v after %d look-ups", exists, err, views.Load())
	}
}

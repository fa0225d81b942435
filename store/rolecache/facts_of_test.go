package rolecache_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// several are two users, one of them also in a project.
func several() []resources.About {
	return []resources.About{{UserID: user}, {UserID: second}, {UserID: user, ProjectID: "proj-p-v1"}, {}}
}

// crowd are several with so many others that they are read apart.
func crowd() []resources.About {
	all := several()
	for i := range 2 * manyReads * len(all) {
		all = append(all, resources.About{UserID: fmt.Sprintf("user-c%d-v1", i)})
	}
	return all
}

// factsOf returns the facts of several, nil beside an error.
func factsOf(t *testing.T, c *rolecache.Cache, account string, of []resources.About) ([]resources.Facts, error) {
	t.Helper()
	facts := make([]resources.Facts, len(of))
	if err := c.FactsOf(t.Context(), account, of, facts); err != nil {
		return nil, err
	}
	return facts, nil
}

// TestFactsOfSeveralAreOfOneRevision, also while the account moves during their reads: what is older is
// read again.
func TestFactsOfSeveralAreOfOneRevision(t *testing.T) {
	for moves := range 4 {
		w := newWorld(t)
		w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
		left, view := moves, w.view
		w.view = func(ctx context.Context, fn func(store.Tx) error) error {
			err := view(ctx, fn)
			if left > 0 {
				left--
				w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
			}
			return err
		}
		facts, err := factsOf(t, w.cache, account, crowd())
		if err != nil || len(facts) != len(crowd()) {
			t.Fatalf("%d moves: %v", moves, err)
		}
		for i, f := range facts {
			if f.Revision != facts[0].Revision || f.Subject.UserID != crowd()[i].UserID {
				t.Errorf("%d moves: %d is %+v", moves, i, f)
			}
			if f.Subject.UserID == user && moves > 0 && f.Subject.UserStatus != "SUSPENDED" {
				t.Errorf("%d moves: %d is %s at a revision at which nobody was", moves, i, f.Subject.UserStatus)
			}
		}
		if facts[2].ProjectState != "active" || facts[0].ProjectState != "" {
			t.Errorf("%+v", facts)
		}
	}
}

// TestFactsOfAnAccountThatNeverRestsFail after a few tries.
func TestFactsOfAnAccountThatNeverRestsFail(t *testing.T) {
	w := newWorld(t)
	view := w.view
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		err := view(ctx, fn)
		w.change(account, nil)
		return err
	}
	views := w.counted()
	if facts, err := factsOf(t, w.cache, account, crowd()); err == nil || facts != nil || views.Load() > 20 {
		t.Errorf("%+v, %v after %d reads", facts, err, views.Load())
	}
}

// TestFactsOfSeveralCostOneRead, and nothing when they are cached; a change is seen by the next
// call; an error gives nothing.
func TestFactsOfSeveralCostOneRead(t *testing.T) {
	w := newWorld(t)
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
	w.warm()
	views := w.counted()
	for i, want := range []int64{1, 0, 0} { // the second user, the project, nobody
		before := views.Load()
		if _, err := factsOf(t, w.cache, account, several()); err != nil || views.Load()-before != want {
			t.Errorf("call %d: %d reads, %v", i, views.Load()-before, err)
		}
	}
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	if facts, err := factsOf(t, w.cache, account, several()); err != nil || facts[0].Subject.UserStatus != "SUSPENDED" {
		t.Errorf("%+v, %v", facts, err)
	}
	w.view = func(context.Context, func(store.Tx) error) error { return errBroken }
	w.change(account, nil)
	if facts, err := factsOf(t, w.cache, account, several()); err == nil || facts != nil {
		t.Errorf("%+v, %v", facts, err)
	}
	if facts, err := factsOf(t, w.cache, "acct-absent-v1", nil); err == nil || len(facts) > 0 {
		t.Errorf("%+v, %v", facts, err)
	}
}

// TestFactsOfSeveralKeepNoName guarantees that a cached value keeps no part of the request in memory.
func TestFactsOfSeveralKeepNoName(t *testing.T) {
	for name, asked := range map[string][]resources.About{"one": several()[:1], "several": several()} {
		w := newWorld(t)
		for i := range asked {
			asked[i].UserID = strings.Clone(asked[i].UserID)
		}
		facts, err := factsOf(t, w.cache, account, asked)
		if err != nil || facts[0].Subject.UserID != asked[0].UserID || unsafe.StringData(facts[0].Subject.UserID) == unsafe.StringData(asked[0].UserID) {
			t.Errorf("%s: %+v, %v", name, facts[0].Subject, err)
		}
	}
}

// TestHomeIsTheUsersAccount, and "" where there is no such user.
func TestHomeIsTheUsersAccount(t *testing.T) {
	w := newWorld(t)
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = other, "ACTIVE" })
	asked, want := []string{user, "user-ghost-v1", "sub-1", second}, []string{account, "", "", other}
	views := w.counted()
	for range 2 {
		if homes, err := w.cache.Homes(t.Context(), asked); !slices.Equal(homes, want) || err != nil {
			t.Errorf("%q, %v", homes, err)
		}
	}
	if got := views.Load(); got != 4 { // the users, each one's facts, and those again that nobody is
		t.Errorf("%d reads", got)
	}
	w.set(second, func(u *resources.User) { u.AccountID = account })
	if homes, err := w.cache.Homes(t.Context(), asked[3:]); !slices.Equal(homes, []string{account}) || err != nil {
		t.Errorf("after a move: %q, %v", homes, err)
	}
	w.view = func(context.Context, func(store.Tx) error) error { return errBroken }
	w.change(account, nil)
	if homes, err := w.cache.Homes(t.Context(), asked[:1]); homes != nil || err == nil {
		t.Errorf("%q, %v", homes, err)
	}
}

// TestHomesInManyAccountsAreReadAtOnce: on some engines an account costs several round trips.
func TestHomesInManyAccountsAreReadAtOnce(t *testing.T) {
	w := newWorld(t)
	var asked, want []string
	for i := range 40 {
		name, home := fmt.Sprintf("user-h%d-v1", i), fmt.Sprintf("acct-h%d-v1", i)
		w.set(name, func(u *resources.User) { u.AccountID, u.Status = home, "ACTIVE" })
		asked, want = append(asked, name), append(want, home)
	}
	view, first := w.view, make(chan struct{}, 1)
	arrived, enough := make(chan struct{}, len(asked)), make(chan struct{})
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		select {
		case first <- struct{}{}: // of all users together
		default:
			if arrived <- struct{}{}; len(arrived) == 16 {
				close(enough)
			}
			select {
			case <-enough:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return view(ctx, fn)
	}
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	defer cancel()
	if homes, err := w.cache.Homes(ctx, asked); !slices.Equal(homes, want) || err != nil {
		t.Errorf("%q, %v", homes, err)
	}
}

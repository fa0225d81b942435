package rolecache_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// several returns questions about two users, about one of them in a project, and about the account alone.
func several() []resources.About {
	return []resources.About{{UserID: user}, {UserID: second}, {UserID: user, ProjectID: "proj-p-v1"}, {}}
}

// crowd returns several and many questions about unknown users: too many for one view.
func crowd() []resources.About {
	all := several()
	for i := range 2 * manyReads * len(all) {
		all = append(all, resources.About{UserID: fmt.Sprintf("user-c%d-v1", i)})
	}
	return all
}

// factsOf returns the facts of the questions, nil beside an error.
func factsOf(t *testing.T, c *rolecache.Cache, account string, pairs []resources.About) ([]resources.Facts, error) {
	t.Helper()
	facts := make([]resources.Facts, len(pairs))
	if err := c.FactsOf(t.Context(), account, pairs, facts); err != nil {
		return nil, err
	}
	return facts, nil
}

// TestFactsOfSeveralAreOfOneRevision guarantees that all facts are of one revision, also if the account moves during
// their reads.
func TestFactsOfSeveralAreOfOneRevision(t *testing.T) {
	for moves := range 4 {
		w := newWorld(t)
		w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
		remaining, view := moves, w.view
		w.view = func(ctx context.Context, fn func(store.Tx) error) error {
			err := view(ctx, fn)
			if remaining > 0 {
				remaining--
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
				t.Errorf("%d moves: %d is %s, older than the revision of the facts", moves, i, f.Subject.UserStatus)
			}
		}
		if facts[2].ProjectState != "active" || facts[0].ProjectState != "" {
			t.Errorf("%+v", facts)
		}
	}
}

// TestFactsOfAnAccountThatNeverRestsFail guarantees that FactsOf fails after a few tries if the account moves during
// each.
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

// TestFactsOfSeveralCostOneRead guarantees that FactsOf reads all misses in one view, and cached facts without a view.
// The next call sees a change. An error returns no facts.
func TestFactsOfSeveralCostOneRead(t *testing.T) {
	w := newWorld(t)
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = account, "ACTIVE" })
	w.warm()
	views := w.counted()
	for i, want := range []int64{1, 0, 0} { // the first call reads the second user, the project and the account
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

// TestHomeIsTheUsersAccount guarantees that Homes returns the account of each user, and "" for unknown names.
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
	if got := views.Load(); got != 4 { // a look-up of the names, the facts in two accounts, and a second look-up of the unknown names
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

// TestHomesInManyAccountsAreReadAtOnce guarantees that Homes reads 16 accounts concurrently: on some engines each costs
// several round trips.
func TestHomesInManyAccountsAreReadAtOnce(t *testing.T) {
	w := newWorld(t)
	var asked, want []string
	for i := range 40 {
		name, home := fmt.Sprintf("user-h%d-v1", i), fmt.Sprintf("acct-h%d-v1", i)
		w.set(name, func(u *resources.User) { u.AccountID, u.Status = home, "ACTIVE" })
		asked, want = append(asked, name), append(want, home)
	}
	view, first := w.view, make(chan struct{}, 1)
	var arrived atomic.Int64
	enough := make(chan struct{})
	w.view = func(ctx context.Context, fn func(store.Tx) error) error {
		select {
		case first <- struct{}{}: // the look-up of all users
		default:
			if arrived.Add(1) == 16 {
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

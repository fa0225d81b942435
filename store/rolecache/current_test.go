package rolecache_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// stamp is that of the user's facts now.
func (w *world) stamp() resources.Stamp {
	w.t.Helper()
	facts, err := w.cache.Facts(w.t.Context(), account, user, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return facts.Stamp(account)
}

// TestFactsAreCurrentUntilTheirAccountMoves, and no others are, of a store in the process.
func TestFactsAreCurrentUntilTheirAccountMoves(t *testing.T) {
	w := local(t)
	stamp := w.stamp()
	if !w.cache.Current(stamp) {
		t.Error("they aren't current")
	}
	for name, of := range map[string]resources.Stamp{
		"nothing":            {},
		"an earlier one":     {AccountID: account, Generation: stamp.Generation, Revision: stamp.Revision - 1},
		"a later one":        {AccountID: account, Generation: stamp.Generation, Revision: stamp.Revision + 1},
		"another life":       {AccountID: account, Generation: "two", Revision: stamp.Revision},
		"another account":    {AccountID: other, Generation: stamp.Generation, Revision: stamp.Revision},
		"an unknown account": {AccountID: "acct-unknown-v1", Generation: stamp.Generation},
	} {
		if w.cache.Current(of) {
			t.Errorf("%s is current", name)
		}
	}
	w.set(second, func(u *resources.User) { u.AccountID, u.Status = other, "ACTIVE" })
	w.stamp()
	if !w.cache.Current(stamp) {
		t.Error("another account's move took them")
	}
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	if w.cache.Current(stamp) {
		t.Error("they are current after a change that nobody has taken over")
	}
	after := w.stamp()
	if w.cache.Current(stamp) || !w.cache.Current(after) {
		t.Error("the older ones are current, or the newer ones not")
	}
	w.freshness = func(context.Context) (store.Freshness, error) { return store.Freshness{}, errBroken }
	if w.cache.Current(after) {
		t.Error("current of a store that can't be asked")
	}
}

// TestNothingIsCurrentBeyondTheLease, nor without one: that takes a read, which Current does
// not wait for.
func TestNothingIsCurrentBeyondTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, reads, _ := leased(t)
		stamp := w.stamp()
		before := reads.Load()
		for range 3 {
			if !w.cache.Current(stamp) {
				t.Error("not current within the lease")
			}
		}
		time.Sleep(lease + 1)
		if w.cache.Current(stamp) || reads.Load() != before {
			t.Errorf("current beyond the lease, or after %d reads", reads.Load()-before)
		}
	})
	w := newWorld(t)
	var err error
	if w.cache, err = rolecache.New(w, records.NewCollections(), rolecache.Options{Entries: 10}); err != nil {
		t.Fatal(err)
	}
	if w.cache.Current(w.stamp()) {
		t.Error("current without a lease")
	}
}

package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// manyChanges is more than two steps read.
const manyChanges = 500

// changed is a world with many changes of the account A, and with the store and the gate through which they are read.
func changed(t *testing.T) (w *world, f *faultyStore, scans *gate.Gate, change func(number int64, action string)) {
	f, scans = &faultyStore{}, gate.New(1, 0)
	w = newWorld(t, faulty(f), func(cfg *access.Config) { cfg.Scans = scans })
	insert := func(ctx context.Context, tx store.Tx, number int64, action string) error {
		return w.Collections.Changes.Insert(ctx, tx, resources.Change{
			ID: fmt.Sprintf("change-%05d-v1", number), At: areatest.Start, AccountID: acctA, AccountRevision: 1000 + number, Action: action,
		})
	}
	w.Write(func(ctx context.Context, tx store.Tx) (err error) {
		for i := int64(0); i < manyChanges && err == nil; i++ {
			err = insert(ctx, tx, i, "account:role:update")
		}
		return err
	})
	return w, f, scans, func(number int64, action string) {
		w.Write(func(ctx context.Context, tx store.Tx) error { return insert(ctx, tx, number, action) })
	}
}

func askForChanges(query string) *wire.Request {
	return &wire.Request{Principal: areatest.As(acctA, alice), Params: map[string]string{"accountId": acctA}, Query: query}
}

// TestChangesAreReadInSteps: a snapshot is held for one step, steps behind the first one wait for their turn, and each
// authorizes the caller anew.
func TestChangesAreReadInSteps(t *testing.T) {
	w, f, scans, change := changed(t)
	change(manyChanges, "account:role:create")
	view, snapshots := f.view, 0
	f.view = func(ctx context.Context, fn func(store.Tx) error) error {
		if snapshots++; (scans.Inside() == 1) != (snapshots > 1) {
			t.Errorf("snapshot %d with %d inside", snapshots, scans.Inside())
		}
		return view(ctx, fn)
	}
	for _, query := range []string{"action=account:role:create", "after=&action=account:role:create"} {
		snapshots = 0
		if got := w.Ask("change.list", askForChanges(query)); got.Status != 200 || strings.Count(got.Text, `"id":"change-`) != 1 || snapshots != 3 || scans.Inside() != 0 {
			t.Errorf("%s: %d %s after %d snapshots", query, got.Status, got.Text, snapshots)
		}
	}
	f.view = func(ctx context.Context, fn func(store.Tx) error) error {
		if snapshots++; snapshots == 5 {
			w.SetAccount(acctA, resources.StatusSuspended)
			w.ChangeUser(alice, func(u *resources.User) { u.Status = resources.StatusInactive })
		}
		return view(ctx, fn)
	}
	if got := w.Ask("change.list", askForChanges("action=account:none:create")); got.Status != 403 {
		t.Errorf("%d %s for a caller who may not read any more", got.Status, got.Text)
	}
}

// TestAWaitGoesOnWhereItLooked, and does not read again what it has read.
func TestAWaitGoesOnWhereItLooked(t *testing.T) {
	w, f, _, change := changed(t)
	r := askForChanges("after=&wait=30s&action=account:role:create")
	first, err := w.Routes["change.list"](w.Ctx, r)
	if err != nil || first.Wait != 30*time.Second {
		t.Fatalf("%+v %v", first, err)
	}
	view, snapshots := f.view, 0
	f.view = func(ctx context.Context, fn func(store.Tx) error) error { snapshots++; return view(ctx, fn) }
	r.Place = first.Place
	second, err := w.Routes["change.list"](w.Ctx, r)
	if err != nil || second.Wait == 0 || snapshots != 1 {
		t.Fatalf("%+v %v after %d snapshots", second, err, snapshots)
	}
	change(manyChanges, "account:role:create")
	r.Place = second.Place
	if got := w.Ask("change.list", r); strings.Count(got.Text, `"id":"change-`) != 1 || snapshots != 2 {
		t.Errorf("%d %s after %d snapshots", got.Status, got.Text, snapshots)
	}
}

package storetest

import (
	"reflect"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

// RunReopen is for engines with durable data: after a restart all of it is there, and the epoch
// goes on. open returns an empty store; reopen closes s and returns another one on its data.
// newGeneration is true if each start is a new generation.
func RunReopen(t *testing.T, newGeneration bool, open func(t *testing.T) store.Store, reopen func(t *testing.T, s store.Store) store.Store) {
	e := newEnv(t, open(t))
	want := thing{ID: "a", Account: "x", Name: "n", Tag: "t", Rank: 3}
	e.put(t, want)
	e.bump(t, "x", "y")
	e.bump(t, "x")
	before := e.freshness(t)
	e.Store = reopen(t, e.Store)

	after := e.freshness(t)
	if after.Epoch != before.Epoch {
		t.Errorf("epoch %d, was %d", after.Epoch, before.Epoch)
	}
	if changed := after.Generation != before.Generation; changed != newGeneration {
		t.Errorf("generation %q, was %q", after.Generation, before.Generation)
	}
	if rec, err := e.get(t, "a"); err != nil || rec.Revision != 1 || !reflect.DeepEqual(rec.Value, want) {
		t.Errorf("got %+v, %v", rec, err)
	}
	e.wantRevision(t, "x", 2)
	e.wantChanges(t, before.Epoch-1, map[string]int64{"x": 2})
	e.refused(t, byTag, e.insert(thing{ID: "b", Tag: "t"}))
	e.bump(t, "y")
	e.wantEpoch(t, before.Epoch+1)
	e.closedUnderWay(t, reopen)
}

// closedUnderWay closes the store in the middle of a transaction, which is finished or undone,
// as its result says.
func (e *env) closedUnderWay(t *testing.T, reopen func(t *testing.T, s store.Store) store.Store) {
	begun, closing, answer := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	old := *e
	var once sync.Once
	go func() {
		answer <- old.Transact(old.ctx, func(tx store.Tx) error {
			once.Do(func() { close(begun) })
			if err := old.things.Insert(old.ctx, tx, thing{ID: "late", Name: "late"}); err != nil {
				return err
			}
			<-closing
			return old.links.Insert(old.ctx, tx, link{From: "late", To: "late"})
		})
	}()
	<-begun
	close(closing)
	e.Store = reopen(t, e.Store)
	err := <-answer
	_, got := e.get(t, "late")
	if err != nil {
		wantIs(t, "the transaction under way", err, store.ErrUnavailable)
		wantIs(t, "its record", got, store.ErrNotFound)
		return
	}
	wantIs(t, "its record", got, nil)
}

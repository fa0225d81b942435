package storetest

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func changes() []testCase {
	return []testCase{
		{"changes are those after the epoch, with current revisions", changesAfterEpoch},
		{"changes are cut at the limit, and say so", changesAreCut},
		{"an answered bump is seen by the freshness read after it", answeredBumpIsFresh},
		{"changes hold all that the freshness read before them saw", changesKeepUp},
	}
}

func (e *env) wantChanges(t *testing.T, after int64, want map[string]int64) {
	t.Helper()
	changed, complete, err := e.Changes(e.ctx, after, 100)
	if err != nil || !complete {
		t.Fatalf("Changes: complete is %v, %v", complete, err)
	}
	got := map[string]int64{}
	for _, c := range changed {
		got[c.AccountID] = c.Revision
	}
	if len(got) != len(changed) || !reflect.DeepEqual(got, want) {
		t.Errorf("after %d: %+v, want %v", after, changed, want)
	}
}

func changesAfterEpoch(t *testing.T, e *env) {
	start := e.freshness(t).Epoch
	e.wantChanges(t, start, map[string]int64{})
	e.bump(t, "x", "y")
	e.bump(t, "z")
	e.bump(t, "x")
	e.put(t, thing{ID: "a", Account: "q"})
	e.wantChanges(t, start, map[string]int64{"x": 2, "y": 1, "z": 1})
	e.wantChanges(t, start+1, map[string]int64{"x": 2, "z": 1})
	e.wantChanges(t, start+2, map[string]int64{"x": 2})
	e.wantChanges(t, start+3, map[string]int64{})
	e.wantChanges(t, start+100, map[string]int64{})
}

func changesAreCut(t *testing.T, e *env) {
	start := e.freshness(t).Epoch
	e.bump(t, "a", "b", "c")
	for limit, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3} {
		changed, complete, err := e.Changes(e.ctx, start, limit)
		if err != nil || len(changed) != want || complete != (limit >= 3) {
			t.Errorf("limit %d: %+v, complete is %v, %v", limit, changed, complete, err)
		}
	}
}

// answeredBumpIsFresh: the next freshness read, on any goroutine, includes every change that
// was answered. Concurrent changes may share an epoch.
func answeredBumpIsFresh(t *testing.T, e *env) {
	const writers, each = 4, 20
	start := e.freshness(t).Epoch
	var seen atomic.Int64
	together(writers, func(i int) {
		for range each {
			before := max(seen.Load(), e.freshness(t).Epoch)
			e.mustBump(t, fmt.Sprint("account-", i))
			f, err := e.Freshness(e.ctx)
			if err != nil || f.Epoch <= before {
				t.Errorf("epoch %d, %v; it was %d before a change", f.Epoch, err, before)
			}
			for old := seen.Load(); old < f.Epoch && !seen.CompareAndSwap(old, f.Epoch); {
				old = seen.Load()
			}
		}
	})
	if got := e.freshness(t).Epoch - start; got < each || got > writers*each {
		t.Errorf("the epoch moved by %d", got)
	}
}

func (e *env) mustBump(t *testing.T, account string) {
	err := e.Transact(e.ctx, func(tx store.Tx) error {
		_, err := tx.Bump(e.ctx, account)
		return err
	})
	if err != nil {
		t.Errorf("bump: %v", err)
	}
}

// changesKeepUp acts as a replica: it follows the epoch by Freshness and Changes alone, and
// must know each revision that was answered before it called.
func changesKeepUp(t *testing.T, e *env) {
	const writers, each = 3, 30
	start := e.freshness(t).Epoch
	var answered [writers]atomic.Int64
	var finished atomic.Int64
	together(writers+1, func(i int) {
		if i < writers {
			for range each {
				e.mustBump(t, fmt.Sprint(i))
				answered[i].Add(1)
			}
			finished.Add(1)
			return
		}
		epoch, revisions := start, map[string]int64{}
		for last := false; !last && !t.Failed(); {
			last = finished.Load() == writers
			var floor [writers]int64
			for w := range floor {
				floor[w] = answered[w].Load()
			}
			epoch = e.follow(t, epoch, revisions)
			for w, want := range floor {
				if got := revisions[fmt.Sprint(w)]; got < want {
					t.Errorf("account %d: revision %d is known, %d was answered", w, got, want)
				}
			}
		}
		if got := epoch - start; got < each || got > writers*each {
			t.Errorf("epoch moved by %d", got)
		}
	})
}

func (e *env) follow(t *testing.T, epoch int64, revisions map[string]int64) int64 {
	f, err := e.Freshness(e.ctx)
	if err != nil || f.Epoch < epoch {
		t.Errorf("freshness %+v after epoch %d, %v", f, epoch, err)
	}
	if f.Epoch == epoch {
		return epoch
	}
	changed, complete, err := e.Changes(e.ctx, epoch, 1000)
	if err != nil || !complete {
		t.Errorf("changes: complete is %v, %v", complete, err)
	}
	for _, c := range changed {
		revisions[c.AccountID] = max(revisions[c.AccountID], c.Revision)
	}
	return f.Epoch
}

package storetest

import (
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

func revisions() []testCase {
	return []testCase{
		{"a revision is 0 before the first bump and grows by one", revisionGrows},
		{"accounts have revisions of their own, the empty name too", revisionsAreApart},
		{"a bump is seen at once in its transaction, and not outside", bumpIsSeenInside},
		{"twice in one transaction is once", twiceIsOnce},
		{"a transaction with bumps moves the epoch by one", epochMovesOnce},
		{"a transaction without a bump moves nothing", noBumpNoMove},
		{"a failed transaction moves neither revision nor epoch", failureMovesNothing},
		{"the generation stays while the store is open", generationStays},
		{"a check moves nothing", checkMovesNothing},
	}
}

func (e *env) revision(t *testing.T, account string) (rev int64) {
	t.Helper()
	e.see(t, func(tx store.Tx) (err error) {
		rev, err = tx.Revision(e.ctx, account)
		return err
	})
	return rev
}

func (e *env) wantRevision(t *testing.T, account string, want int64) {
	t.Helper()
	if got := e.revision(t, account); got != want {
		t.Errorf("revision of %q is %d, want %d", account, got, want)
	}
}

func revisionGrows(t *testing.T, e *env) {
	e.wantRevision(t, "x", 0)
	for want := int64(1); want <= 5; want++ {
		e.bump(t, "x")
		e.wantRevision(t, "x", want)
	}
}

func revisionsAreApart(t *testing.T, e *env) {
	e.bump(t, "x")
	e.bump(t, "X", "")
	e.bump(t, "")
	for account, want := range map[string]int64{"x": 1, "X": 1, "": 2, "y": 0} {
		e.wantRevision(t, account, want)
	}
}

func bumpIsSeenInside(t *testing.T, e *env) {
	e.bump(t, "x")
	e.do(t, func(tx store.Tx) error {
		if rev, err := tx.Bump(e.ctx, "x"); err != nil || rev != 2 {
			t.Errorf("bump: %d, %v", rev, err)
		}
		if rev, err := tx.Revision(e.ctx, "x"); err != nil || rev != 2 {
			t.Errorf("inside: %d, %v", rev, err)
		}
		e.wantRevision(t, "x", 1)
		return nil
	})
	e.wantRevision(t, "x", 2)
}

func twiceIsOnce(t *testing.T, e *env) {
	before := e.freshness(t)
	e.do(t, func(tx store.Tx) error {
		for range 3 {
			if rev, err := tx.Bump(e.ctx, "x"); err != nil || rev != 1 {
				t.Errorf("bump: %d, %v", rev, err)
			}
		}
		return nil
	})
	e.wantRevision(t, "x", 1)
	e.wantEpoch(t, before.Epoch+1)
}

func (e *env) wantEpoch(t *testing.T, want int64) {
	t.Helper()
	if f := e.freshness(t); f.Epoch != want {
		t.Errorf("epoch %d, want %d", f.Epoch, want)
	}
}

func epochMovesOnce(t *testing.T, e *env) {
	before := e.freshness(t)
	e.bump(t, "a", "b", "c")
	e.wantEpoch(t, before.Epoch+1)
	e.bump(t, "a")
	e.wantEpoch(t, before.Epoch+2)
}

func noBumpNoMove(t *testing.T, e *env) {
	e.bump(t, "x")
	before := e.freshness(t)
	e.put(t, thing{ID: "a", Account: "x"})
	e.wantEpoch(t, before.Epoch)
	e.wantRevision(t, "x", 1)
}

func failureMovesNothing(t *testing.T, e *env) {
	e.bump(t, "x")
	before := e.freshness(t)
	bump := func(tx store.Tx) error {
		_, err := tx.Bump(e.ctx, "x")
		return errors.Join(err, errCase)
	}
	wantIs(t, "Transact", e.Transact(e.ctx, bump), errCase)
	func() {
		defer func() { _ = recover() }()
		_ = e.Transact(e.ctx, func(tx store.Tx) error { panic(bump(tx)) })
	}()
	e.wantEpoch(t, before.Epoch)
	e.wantRevision(t, "x", 1)
	if changed, _, err := e.Changes(e.ctx, before.Epoch, 10); err != nil || len(changed) != 0 {
		t.Errorf("changes: %+v, %v", changed, err)
	}
}

func generationStays(t *testing.T, e *env) {
	before := e.freshness(t)
	if before.Generation == "" {
		t.Error("no generation")
	}
	e.bump(t, "x")
	if after := e.freshness(t); after.Generation != before.Generation {
		t.Errorf("generation %q, then %q", before.Generation, after.Generation)
	}
}

func checkMovesNothing(t *testing.T, e *env) {
	e.bump(t, "x")
	before := e.freshness(t)
	wantIs(t, "Check", e.Check(e.ctx), nil)
	if after := e.freshness(t); after != before {
		t.Errorf("freshness %+v, want %+v", after, before)
	}
	e.wantRevision(t, "x", 1)
}

package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestGroupIsOneTransaction: the changes that wait are committed at once, and their
// accounts get one new epoch.
func TestGroupIsOneTransaction(t *testing.T) {
	g := newGrouped(t)
	before := g.epoch()
	answers := g.inLine(nothing, g.change("a", nil), g.change("b", nil), g.change("c", nil), g.change("d", nil))
	must.Do(t, errors.Join(answers...))
	if n := g.commits(); n != 2 { // that of the holder, and theirs
		t.Errorf("%d commits", n)
	}
	if moved := g.epoch() - before; moved != 2 {
		t.Errorf("the epoch moved by %d", moved)
	}
	changed, complete, err := g.Changes(t.Context(), before+1, 10)
	if err != nil || !complete || len(changed) != 4 {
		t.Errorf("%+v %v %v", changed, complete, err)
	}
	g.wantNotes(map[string]bool{"a": true, "b": true, "c": true, "d": true})
}

// TestGroupIsBounded: who is behind it waits for the next.
func TestGroupIsBounded(t *testing.T) {
	g := newGrouped(t)
	g.LimitGroups(3)
	answers := g.inLine(nothing, g.change("a", nil), g.change("b", nil), g.change("c", nil), g.change("d", nil))
	must.Do(t, errors.Join(answers...))
	if n := g.commits(); n != 3 {
		t.Errorf("%d commits", n)
	}
}

// TestMemberIsRefusedForItself: with its own error, and the others go on.
func TestMemberIsRefusedForItself(t *testing.T) {
	g := newGrouped(t)
	answers := g.inLine(nothing, g.change("a", nil), g.refusal("b"), g.change("c", nil))
	if answers[0] != nil || answers[1] != errRefused || answers[2] != nil { //nolint:errorlint // as it is, not wrapped
		t.Errorf("got %v", answers)
	}
	if n := g.commits(); n != 2 {
		t.Errorf("%d commits", n)
	}
	g.wantNotes(map[string]bool{"a": true, "b": false, "c": true})
}

func TestGroupThatRefusesAllMovesNothing(t *testing.T) {
	g := newGrouped(t)
	before := g.epoch()
	answers := g.inLine(nothing, g.refusal("a"), g.refusal("b"))
	if answers[0] != errRefused || answers[1] != errRefused { //nolint:errorlint // as it is, not wrapped
		t.Errorf("got %v", answers)
	}
	if moved := g.epoch() - before; moved != 1 {
		t.Errorf("the epoch moved by %d", moved)
	}
}

// TestMemberThatFailsAfterItWroteLeavesNothing, and the others are there.
func TestMemberThatFailsAfterItWroteLeavesNothing(t *testing.T) {
	g := newGrouped(t)
	answers := g.inLine(nothing, g.change("a", nil), g.change("b", errRefused), g.change("c", nil))
	if answers[0] != nil || !errors.Is(answers[1], errRefused) || answers[2] != nil {
		t.Errorf("got %v", answers)
	}
	g.wantNotes(map[string]bool{"a": true, "b": false, "c": true})
}

// TestMemberSeesThoseBeforeIt: of two that each want to be the last, the second is refused,
// and not before the first is committed.
func TestMemberSeesThoseBeforeIt(t *testing.T) {
	g := newGrouped(t)
	first := func(id string) func() error {
		return func() error {
			err := g.Transact(t.Context(), func(tx store.Tx) error {
				if _, err := tx.Bump(t.Context(), "x"); err != nil {
					return err
				}
				n, err := g.notes.Count(t.Context(), tx, store.Query{Index: "by_account", Equal: []store.Value{store.String("x")}})
				if err != nil || n > 0 {
					return errors.Join(err, errRefused)
				}
				return g.notes.Insert(t.Context(), tx, note{ID: id})
			})
			if errors.Is(err, errRefused) {
				g.wantNotes(map[string]bool{"a": true})
			}
			return err
		}
	}
	answers := g.inLine(nothing, first("a"), first("b"))
	if answers[0] != nil || !errors.Is(answers[1], errRefused) {
		t.Errorf("got %v", answers)
	}
	if n := g.commits(); n < 2 {
		t.Errorf("%d commits", n)
	}
	g.wantNotes(map[string]bool{"a": true, "b": false})
}

// TestPanicOfAMemberIsItsCallers: it is undone, and the others are there.
func TestPanicOfAMemberIsItsCallers(t *testing.T) {
	g := newGrouped(t)
	panics := func() (err error) {
		defer func() { err, _ = recover().(error) }()
		return g.Transact(t.Context(), func(tx store.Tx) error {
			if err := g.add(tx, "b"); err != nil {
				return err
			}
			panic(errRefused)
		})
	}
	answers := g.inLine(nothing, g.change("a", nil), panics, g.change("c", nil))
	if answers[0] != nil || answers[1] != errRefused || answers[2] != nil { //nolint:errorlint // as it is, not wrapped
		t.Errorf("got %v", answers)
	}
	g.wantNotes(map[string]bool{"a": true, "b": false, "c": true})
}

// TestCancelledInLineIsAnsweredAtOnce, and runs no more.
func TestCancelledInLineIsAnsweredAtOnce(t *testing.T) {
	g := newGrouped(t)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	gone := func() error {
		err := g.Transact(ctx, func(tx store.Tx) error { return g.add(tx, "b") })
		answered <- err
		return err
	}
	answers := g.inLine(func() {
		cancel()
		if err := <-answered; !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		g.waiting(2)
	}, g.change("a", nil), gone, g.change("c", nil))
	if answers[0] != nil || answers[2] != nil {
		t.Errorf("got %v", answers)
	}
	g.wantNotes(map[string]bool{"a": true, "b": false, "c": true})
}

// TestCancelledInItsTurnLeavesNothing, and the others are there.
func TestCancelledInItsTurnLeavesNothing(t *testing.T) {
	for _, when := range []string{"before it wrote", "after it wrote"} {
		t.Run(when, func(t *testing.T) {
			g := newGrouped(t)
			ctx, cancel := context.WithCancel(t.Context())
			gone := func() error {
				return g.Transact(ctx, func(tx store.Tx) error {
					if _, err := tx.Bump(ctx, "b"); err != nil {
						return err
					}
					if when == "before it wrote" {
						cancel()
					}
					defer cancel()
					return g.notes.Insert(ctx, tx, note{ID: "b"})
				})
			}
			answers := g.inLine(nothing, g.change("a", nil), gone, g.change("c", nil))
			if answers[0] != nil || !errors.Is(answers[1], store.ErrUnavailable) || !errors.Is(answers[1], context.Canceled) || answers[2] != nil {
				t.Errorf("got %v", answers)
			}
			g.wantNotes(map[string]bool{"a": true, "b": false, "c": true})
		})
	}
}

// TestARefusalThatLoadedARevisionLeavesNone: the group commits the others without it.
func TestARefusalThatLoadedARevisionLeavesNone(t *testing.T) {
	g := newGrouped(t)
	refusal := func() error {
		return g.Transact(t.Context(), func(tx store.Tx) error {
			return errors.Join(tx.LoadRevision(t.Context(), "b", 4711), errRefused)
		})
	}
	answers := g.inLine(nothing, g.change("a", nil), refusal, g.change("c", nil))
	if answers[0] != nil || !errors.Is(answers[1], errRefused) || answers[2] != nil {
		t.Errorf("got %v", answers)
	}
	if err := g.View(t.Context(), func(tx store.Tx) error {
		revision, err := tx.Revision(t.Context(), "b")
		if revision == 4711 {
			t.Error("the revision of a refused change is there")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	g.wantNotes(map[string]bool{"a": true, "c": true})
}

// TestMembersWaitForTheLease: each for itself, and the next group does not wait for them.
func TestMembersWaitForTheLease(t *testing.T) {
	g := newGrouped(t)
	g.LimitGroups(2)
	const lease = 2 * time.Second
	must.Do(t, g.Lease(t.Context(), lease))
	var released time.Time
	timed := func(id string) func() error {
		return func() error {
			err := g.change(id, nil)()
			if took := time.Since(released); took < lease || took > 2*lease {
				err = errors.Join(err, fmt.Errorf("%s was answered after %s", id, took))
			}
			return err
		}
	}
	if err := errors.Join(g.inLine(func() { released = time.Now() }, timed("a"), timed("b"), timed("c"), timed("d"))...); err != nil {
		t.Error(err)
	}
}

func TestCloseWaitsForWhoIsInLine(t *testing.T) {
	g := newGrouped(t)
	closed := make(chan error, 1)
	answers := g.inLine(func() {
		go func() { closed <- g.Close() }()
		for g.Ping(t.Context()) == nil {
			runtime.Gosched()
		}
	}, g.change("a", nil), g.change("b", nil))
	if err := errors.Join(append(answers, <-closed)...); err != nil {
		t.Error(err)
	}
}

// TestGroupsLoseNothing of 16 writers in two processes, on a record of each and on one of
// all; each answer's change is in the epoch that is read after it.
func TestGroupsLoseNothing(t *testing.T) {
	const processes, writers, each = 2, 8, 12
	g := newGrouped(t)
	must.Do(t, g.change("all", nil)())
	g.sent.reset()
	var writing sync.WaitGroup
	for p, s := range []*mongodb.Store{g.Store, open(t, g.url, notes().Schema())} {
		for w := range writers {
			id := fmt.Sprint(p, "-", w)
			writing.Go(func() {
				for range each {
					before := g.epoch()
					err := s.Transact(t.Context(), func(tx store.Tx) error {
						return errors.Join(g.increment(tx, id, id), g.increment(tx, "x", "all"))
					})
					if after := g.epoch(); err != nil || after <= before {
						t.Errorf("epoch %d, then %d: %v", before, after, err)
					}
				}
			})
		}
	}
	writing.Wait()
	for p := range processes {
		for w := range writers {
			g.wantCount(fmt.Sprint(p, "-", w), each)
		}
	}
	g.wantCount("all", processes*writers*each)
	if n := g.commits(); n >= writers*each {
		t.Errorf("%d commits of one process: no groups were made", n)
	}
}

package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestFailover guarantees that every answered change survives the primary. An uncertain one has an
// error.
func TestFailover(t *testing.T) {
	set := servers.NewMongo(t, 3)
	t.Run("a change of the primary loses nothing", func(t *testing.T) { changeOfPrimary(t, set) })
	t.Run("nodes that stand still are not waited for", func(t *testing.T) { stoppedNodes(t, set) })
}

// tally are a writer's answers.
type tally struct {
	made, unknown int
}

// changeOfPrimary: the writers of two processes go on until each made more changes after it.
func changeOfPrimary(t *testing.T, set *servers.ReplicaSet) {
	const processes, writers, more = 2, 4, 5
	var counts [processes * writers]tally
	var elected atomic.Bool
	var made atomic.Int64
	var writing sync.WaitGroup
	g := &grouped{t: t, notes: notes()}
	for p := range processes {
		s := open(t, set.URL, g.notes.Schema())
		g.Store = s
		for w := range writers {
			count := &counts[p*writers+w]
			id := fmt.Sprint(p*writers + w)
			writing.Go(func() {
				for after := 0; after < more && !t.Failed(); {
					late := elected.Load()
					err := s.Transact(t.Context(), func(tx store.Tx) error { return g.increment(tx, id, id) })
					switch {
					case err == nil:
						count.made++
						made.Add(1)
						if late {
							after++
						}
					case errors.Is(err, store.ErrOutcomeUnknown):
						count.unknown++
					case !errors.Is(err, store.ErrUnavailable):
						t.Errorf("got %v", err)
					}
				}
			})
		}
	}
	for made.Load() < processes*writers && !t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
	set.StepDown(t)
	elected.Store(true)
	writing.Wait()
	for i, count := range counts {
		err := g.View(t.Context(), func(tx store.Tx) error {
			rec, err := g.notes.Get(t.Context(), tx, fmt.Sprint(i))
			if got := rec.Value.Count; got < count.made || got > count.made+count.unknown {
				t.Errorf("writer %d: %d are there, %+v", i, got, count)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// stoppedNodes: each call ends with its deadline, and works again when the nodes go on.
func stoppedNodes(t *testing.T, set *servers.ReplicaSet) {
	const deadline, rest = time.Second, 5 * time.Second // rest is a busy machine's; without an end they would wait for ever
	s := open(t, set.URL, notes().Schema())
	calls := map[string]func(context.Context) error{
		"a change": func(ctx context.Context) error { return bumpA(ctx, s) },
		"another":  func(ctx context.Context) error { return bumpA(ctx, s) },
		"a third":  func(ctx context.Context) error { return bumpA(ctx, s) },
		"View": func(ctx context.Context) error {
			return s.View(ctx, func(tx store.Tx) error { _, err := tx.Revision(ctx, "a"); return err })
		},
		"Freshness": func(ctx context.Context) error { _, err := s.Freshness(ctx); return err },
		"Changes":   func(ctx context.Context) error { _, _, err := s.Changes(ctx, 0, 10); return err },
		"Ping":      s.Ping,
		"Check":     s.Check,
	}
	resume := set.Pause(t)
	var calling sync.WaitGroup
	for name, call := range calls {
		calling.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			started := time.Now()
			err := call(ctx)
			if took := time.Since(started); !errors.Is(err, store.ErrUnavailable) || took > deadline+rest {
				t.Errorf("%s: after %s: %v", name, took, err)
			}
		})
	}
	calling.Wait()
	resume()
	for name, call := range calls {
		if err := eventually(t, call); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// eventually calls until it succeeds, for the longest time of an election.
func eventually(t *testing.T, call func(context.Context) error) error {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err := call(t.Context()); err == nil || time.Now().After(end) {
			return err
		}
	}
}

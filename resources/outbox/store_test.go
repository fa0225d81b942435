package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// faulty is a store whose transactions can be made to fail.
type faulty struct {
	store.Store
	transact func(context.Context, func(store.Tx) error) error
}

func (f *faulty) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return f.transact(ctx, fn)
}

// An outage of the store after a delivery does not send the mail twice.
func TestOutcomeIsWrittenDownWhenTheStoreIsBack(t *testing.T) {
	for name, fault := range map[string]func(s *scene, ctx context.Context, fn func(store.Tx) error) error{
		"unavailable": func(*scene, context.Context, func(store.Tx) error) error { return store.ErrUnavailable },
		"unknown, not done": func(*scene, context.Context, func(store.Tx) error) error {
			return store.ErrOutcomeUnknown
		},
		"unknown, done": func(s *scene, ctx context.Context, fn func(store.Tx) error) error {
			if err := s.store.Transact(ctx, fn); err != nil {
				return err
			}
			return store.ErrOutcomeUnknown
		},
	} {
		for result, deliverer := range map[string]outbox.Deliverer{
			outbox.ResultDelivered: failing(nil), outbox.ResultFailed: failing(context.DeadlineExceeded),
		} {
			t.Run(name+" "+result, func(t *testing.T) {
				s := newScene(t)
				m := s.invite("Acme", "bob@example.org")
				var calls atomic.Int32
				var seen []string
				w := s.worker(deliverer, func(c *outbox.Config) {
					c.Observe = func(result string) { seen = append(seen, result) }
					c.Store = &faulty{s.store, func(ctx context.Context, fn func(store.Tx) error) error {
						if calls.Add(1) == 2 { // the first is the lease
							return fault(s, ctx, fn)
						}
						return s.store.Transact(ctx, fn)
					}}
				})
				s.once(w, 1)
				kept := s.read(m.ID)
				if (kept == nil) != (result == outbox.ResultDelivered) || kept != nil && (kept.Attempts != 1 || kept.LeaseUntil != 0) {
					t.Errorf("kept %+v", kept)
				}
				if len(seen) != 1 || seen[0] != result {
					t.Errorf("seen %+v", seen)
				}
			})
		}
	}
}

func TestStatsCountWaitingAndDead(t *testing.T) {
	s := newScene(t)
	w := s.worker(failing(nil), nil)
	if got, err := w.Stats(t.Context()); err != nil || got != (outbox.Stats{}) {
		t.Fatalf("%+v, %v", got, err)
	}
	oldest := s.clock.now()
	s.invite("Acme", "bob@example.org")
	s.once(s.worker(failing(context.DeadlineExceeded), nil), 1) // due after the next ones now
	for range 2 {
		s.clock.pass(time.Millisecond)
		s.invite("Acme", "bob@example.org")
	}
	dead := outbox.Invitation(resources.Account{}, resources.User{}, s.ids, 1)
	dead.State = resources.MessageDead
	s.put(dead)
	got, err := w.Stats(t.Context())
	if err != nil || got.Pending != 3 || got.Dead != 1 || !got.Oldest.Equal(oldest) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCheckWritesAndLeavesNothing(t *testing.T) {
	s := newScene(t)
	w := s.worker(failing(nil), nil)
	must.Do(t, w.Check(t.Context()))
	must.Do(t, w.Check(t.Context()))
	err := s.store.View(t.Context(), func(tx store.Tx) error {
		recs, err := s.c.Outbox.Find(t.Context(), tx, store.Query{Index: records.ByDue})
		if len(recs) > 0 {
			t.Errorf("left %+v", recs)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	broken := s.worker(failing(nil), func(c *outbox.Config) {
		c.Store = &faulty{s.store, func(context.Context, func(store.Tx) error) error { return store.ErrUnavailable }}
	})
	if broken.Check(t.Context()) == nil {
		t.Error("a store that can't be written to is healthy")
	}
}

// A mail server that is down does not make the outbox unhealthy.
func TestCheckDoesNotAskTheMailServer(t *testing.T) {
	s := newScene(t)
	server := (&mailServer{t: t}).start("")
	server.stop()
	s.invite("Acme", "bob@example.org")
	w := s.worker(s.smtp(server), nil)
	s.once(w, 1)
	if err := w.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
)

// steady is a store whose sessions end when they are told to.
type steady struct {
	store.Store
	end chan struct{}
}

var errSteady = errors.New("as the store says")

func (s steady) View(context.Context, func(store.Tx) error) error {
	<-s.end
	return errSteady
}

func (s steady) Transact(ctx context.Context, fn func(store.Tx) error) error { return s.View(ctx, fn) }

// TestAccountsTakeTurnsInTheStore guarantees, of snapshots and of changes, that an account with many under way holds another
// one up for one of them, and that an error is passed on.
func TestAccountsTakeTurnsInTheStore(t *testing.T) {
	for name, use := range map[string]func(store.Store, context.Context) error{
		"views":   func(s store.Store, ctx context.Context) error { return s.View(ctx, nil) },
		"changes": func(s store.Store, ctx context.Context) error { return s.Transact(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				of := steady{end: make(chan struct{})}
				s := inTurns{of, gate.New(1, anyNumber), gate.New(1, anyNumber)}
				var ended []string
				for _, account := range []string{"a", "a", "a", "a", "b"} {
					go func() {
						if err := use(s, context.WithValue(t.Context(), gate.AccountKey{}, account)); !errors.Is(err, errSteady) {
							t.Error(err)
						}
						ended = append(ended, account)
					}()
					synctest.Wait()
				}
				for range 5 {
					of.end <- struct{}{}
					synctest.Wait()
				}
				if want := []string{"a", "a", "b", "a", "a"}; !slices.Equal(ended, want) {
					t.Errorf("%q, want %q", ended, want)
				}
			})
		})
	}
}

// TestWithoutATurnNothingIsDone guarantees that the store is not asked for a caller who leaves the queue.
func TestWithoutATurnNothingIsDone(t *testing.T) {
	views, changes := gate.New(1, 0), gate.New(1, 0)
	if err := errors.Join(views.TryEnter(), changes.TryEnter()); err != nil {
		t.Fatal(err)
	}
	s := inTurns{nil, views, changes}
	if err := s.View(t.Context(), nil); !errors.Is(err, gate.ErrFull) {
		t.Error(err)
	}
	if err := s.Transact(t.Context(), nil); !errors.Is(err, gate.ErrFull) {
		t.Error(err)
	}
}

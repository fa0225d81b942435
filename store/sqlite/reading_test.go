package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// ending is a context that ends after it was looked at a number of times.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestALongListEndsWithItsContext guarantees that a query of many records ends soon after its context, and fails the
// whole snapshot.
func TestALongListEndsWithItsContext(t *testing.T) {
	const accounts, looks = 1000, 100
	c := records.NewCollections()
	s := open(t, t.TempDir(), c.Schemas()...)
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error {
		for i := range accounts {
			a := resources.Account{ID: fmt.Sprint("acct-", i, "-v1")}
			if err := c.Accounts.Insert(t.Context(), tx, a); err != nil {
				return err
			}
		}
		return nil
	}))
	for title, want := range map[string]error{"ends": store.ErrUnavailable, "goes on": nil} {
		ctx := &ending{t.Context(), looks}
		if want == nil {
			ctx.looks = 10 * accounts
		}
		err := s.View(t.Context(), func(tx store.Tx) error {
			recs, err := c.Accounts.Find(ctx, tx, store.Query{Index: records.ByCreated})
			if err == nil && len(recs) != accounts {
				t.Errorf("%d accounts", len(recs))
			}
			if want != nil && (!errors.Is(err, want) || !errors.Is(err, context.Canceled)) {
				t.Errorf("the query: %v", err)
			}
			return nil // swallowed
		})
		if !errors.Is(err, want) {
			t.Errorf("a context that %s: %v, want %v", title, err, want)
		}
	}
}

// TestReadersShareASession guarantees that two readers one after the other have the same session, with its cached
// pages. Readers at once have one each.
func TestReadersShareASession(t *testing.T) {
	ctx, s := t.Context(), open(t, t.TempDir())
	view := func(fn func() error) error {
		return s.View(ctx, func(store.Tx) error { return fn() })
	}
	for range 10 {
		must.Do(t, view(func() error { return nil }))
	}
	if got := s.Readers(); got != 1 {
		t.Errorf("%d sessions for views one after the other", got)
	}
	must.Do(t, view(func() error { return view(func() error { return nil }) }))
	if got := s.Readers(); got != 2 {
		t.Errorf("%d sessions for two views at once", got)
	}
}

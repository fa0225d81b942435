package storetest

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
)

// RunViewCommits is for engines in which the commit of a view can fail after its function has run: what
// it read does not count then. open returns an empty store, and a function that makes so many of the
// next commits fail as a change of the primary does.
func RunViewCommits(t *testing.T, open func(t *testing.T) (s store.Store, fail func(n int))) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, e *env, fail func(n int))
	}{
		{"a view whose commit fails is run again on what holds then", viewIsRunAgain},
		{"a view none of whose runs is committed fails", viewNeverCommits},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, fail := open(t)
			c.run(t, newEnv(t, s), fail)
		})
	}
}

func viewIsRunAgain(t *testing.T, e *env, fail func(n int)) {
	e.put(t, thing{ID: "a", Account: "x", Name: "a"})
	var seen []int
	var last int64
	e.see(t, func(tx store.Tx) error {
		rec, err := e.things.Get(e.ctx, tx, "a")
		if err != nil {
			return err
		}
		if last, err = tx.Revision(e.ctx, "x"); err != nil {
			return err
		}
		if seen = append(seen, rec.Value.Count); len(seen) == 1 {
			e.changeA(t)
			fail(1)
		}
		return nil
	})
	if len(seen) != 2 || seen[0] != 0 || seen[1] != 1 || last != 1 {
		t.Errorf("the runs saw %v, the last one revision %d", seen, last)
	}
}

func viewNeverCommits(t *testing.T, e *env, fail func(n int)) {
	const enough = 3
	e.put(t, thing{ID: "a", Account: "x", Name: "a"})
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	fail(enough)
	runs := 0
	err := e.View(ctx, func(tx store.Tx) error {
		_, err := e.things.Get(ctx, tx, "a")
		if runs++; runs == enough {
			cancel()
		}
		return err
	})
	wantIs(t, "View", err, store.ErrUnavailable)
	if runs != enough {
		t.Errorf("%d runs, want %d", runs, enough)
	}
	fail(0)
	if _, err := e.get(t, "a"); err != nil {
		t.Errorf("the next view: %v", err)
	}
}

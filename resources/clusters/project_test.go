package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/store"
)

// closed is whether the project was found occupied.
func (w *world) closed(at site) bool {
	w.t.Helper()
	occupied, err := w.svc.CloseProject(w.t.Context(), closingOf(at.account, at.project))
	if err != nil {
		w.t.Fatal(err)
	}
	return occupied
}

// TestProjectWithAClusterIsOccupied: by either kind in any state but deleted, by its
// own clusters only, and it is not closed then.
func TestProjectWithAClusterIsOccupied(t *testing.T) {
	each(t, func(w *world, k sort) {
		w.made(k, site{acctA, two}, "web")
		w.made(k, site{acctB, one}, "web")
		id := w.made(k, here, "web")
		for _, state := range resources.ClusterStates() {
			w.set(k, id, state)
			if got := w.closed(here); got != (state != resources.ClusterDeleted) {
				w.t.Errorf("%s: occupied is %t", state, got)
			}
			if state != resources.ClusterDeleted {
				w.clock.Add(1)
				w.made(k, here, "more")
				w.set(k, w.call(k.list, here, "?page_size=1", "").firstID(), resources.ClusterDeleted)
			}
			w.clock.Add(1)
		}
	})
}

// firstID is the id of the first cluster of a list.
func (a answer) firstID() string {
	list, _ := a.at("clusters").([]any)
	item := answer{body: list[0].(map[string]any)}
	return item.str("id") + item.str("base.cluster_id")
}

// TestNothingIsMadeInAClosedProject: 503, until it is opened or the time is over; other
// projects stay open.
func TestNothingIsMadeInAClosedProject(t *testing.T) {
	each(t, func(w *world, k sort) {
		for range 2 {
			if w.closed(here) {
				w.t.Fatal("an empty project is occupied")
			}
		}
		got := w.call(k.create, here, "", k.body("web"))
		w.expect(got, 503, `"code":"UNAVAILABLE"`)
		w.made(k, site{acctA, two}, "web")
		w.made(k, site{acctB, one}, "web")
		w.expect(w.call(k.list, here, "", ""), 200, `"total_count":0`)
		if err := w.svc.OpenProject(w.t.Context(), closingOf(here.account, here.project)); err != nil {
			w.t.Fatal(err)
		}
		id := w.made(k, here, "web")
		w.set(k, id, resources.ClusterDeleted)
		if w.closed(here) {
			w.t.Fatal("occupied by a deleted cluster")
		}
		w.clock.Add(1 << 20) // much later
		w.made(k, here, "web")
	})
}

// TestEmptyProjectHasNoClusterOnTheWay: a closing and a creation at once are not both
// answered yes; 20 rounds.
func TestEmptyProjectHasNoClusterOnTheWay(t *testing.T) {
	w := newWorld(t)
	for round := range 20 {
		at, k := site{acctA, fmt.Sprintf("proj-r%d-v1", round)}, sorts()[round%2]
		var wg sync.WaitGroup
		var made answer
		var occupied bool
		wg.Go(func() { made = w.call(k.create, at, "", k.body("web")) })
		wg.Go(func() { occupied = w.closed(at) })
		wg.Wait()
		if (made.status == 201) != occupied || made.status != 201 && made.status != 503 {
			t.Fatalf("round %d: %d, occupied %t", round, made.status, occupied)
		}
	}
}

// TestClosingSaysWhenItCannotKnow: a store that fails is no empty project.
func TestClosingSaysWhenItCannotKnow(t *testing.T) {
	w := newWorld(t)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := w.svc.CloseProject(t.Context(), closingOf(acctA, one))
	if openErr := w.svc.OpenProject(t.Context(), closingOf(acctA, one)); !errors.Is(err, store.ErrUnavailable) || !errors.Is(openErr, store.ErrUnavailable) {
		t.Errorf("%v, %v", err, openErr)
	}
}

// blind is a store whose transactions write, and can't find.
type blind struct{ store.Store }

type blindTx struct{ store.Tx }

func (b blind) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return b.Store.Transact(ctx, func(tx store.Tx) error { return fn(blindTx{tx}) })
}

func (blindTx) Find(context.Context, *store.Schema, store.Query) ([]store.Row, error) {
	return nil, store.ErrUnavailable
}

// TestWhatCannotBeSeenIsNotEmpty: a project whose clusters can't be looked for is not closed.
func TestWhatCannotBeSeenIsNotEmpty(t *testing.T) {
	w := newWorld(t, func(c *clusters.Config) { c.Store = blind{c.Store} })
	if occupied, err := w.svc.CloseProject(t.Context(), closingOf(acctA, one)); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("occupied %t, %v", occupied, err)
	}
	w.made(sorts()[0], here, "web") // it is open
}

// TestErrorsNameTheirRoute, and a store that is away is 503.
func TestErrorsNameTheirRoute(t *testing.T) {
	w := newWorld(t)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, k := range sorts() {
		for _, route := range []string{k.create, k.list, k.get, k.remove} {
			body := ""
			if route == k.create {
				body = k.body("web")
			}
			w.expect(w.call(route, here, "", body), 503, `"code":"UNAVAILABLE"`)
			_, err := w.routes[route](t.Context(), request(here, body))
			var e *resources.Error
			if want := "clusters: " + route + ": "; !errors.As(err, &e) || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
				t.Errorf("%v", err)
			}
		}
	}
}

// TestClustersMoveNoRevision: no decision rests on them, so no cache is emptied for them.
func TestClustersMoveNoRevision(t *testing.T) {
	w := newWorld(t)
	before, err := w.store.Freshness(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range sorts() {
		w.expect(w.call(k.remove, here, w.made(k, here, "web"), ""), 200)
	}
	w.closed(here)
	if after, err := w.store.Freshness(t.Context()); err != nil || after != before {
		t.Errorf("%+v, before %+v, %v", after, before, err)
	}
}

// marks number the attempts of the tests.
var marks atomic.Int64

// closingOf is the next attempt to delete a project.
func closingOf(account, project string) resources.Closing {
	return resources.Closing{AccountID: account, ProjectID: project, Mark: marks.Add(1)}
}

package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/must"
)

// closed is whether the project was found occupied.
func (w *clustersWorld) closed(s site) bool {
	w.T.Helper()
	return must.Get(w.svc.CloseProject(w.T.Context(), closingOf(s.account, s.project)))(w.T)
}

// TestProjectWithAClusterIsOccupied: by either kind in any state but deleted, by its
// own clusters only, and it is not closed then.
func TestProjectWithAClusterIsOccupied(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		w.made(k, site{acctA, two}, "web")
		w.made(k, site{acctB, one}, "web")
		id := w.made(k, home, "web")
		for _, state := range resources.ClusterStates() {
			w.set(k, id, state)
			if got := w.closed(home); got != (state != resources.ClusterDeleted) {
				w.T.Errorf("%s: occupied is %t", state, got)
			}
			if state != resources.ClusterDeleted {
				w.Clock.Add(1)
				w.made(k, home, "more")
				w.set(k, firstID(w.call(k.list, home, "?page_size=1", "")), resources.ClusterDeleted)
			}
			w.Clock.Add(1)
		}
	})
}

// firstID is the id of the first cluster of a list.
func firstID(a areatest.Answer) string {
	list, _ := a.At("clusters").([]any)
	item := areatest.Answer{Body: list[0].(map[string]any)}
	return item.Str("id") + item.Str("base.cluster_id")
}

// TestNothingIsMadeInAClosedProject: 503, until it is opened or the time is over; other
// projects stay open.
func TestNothingIsMadeInAClosedProject(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		for range 2 {
			if w.closed(home) {
				w.T.Fatal("an empty project is occupied")
			}
		}
		got := w.call(k.create, home, "", k.body("web"))
		w.Expect(got, 503, `"code":"UNAVAILABLE"`)
		w.made(k, site{acctA, two}, "web")
		w.made(k, site{acctB, one}, "web")
		w.Expect(w.call(k.list, home, "", ""), 200, `"total_count":0`)
		must.Do(w.T, w.svc.OpenProject(w.T.Context(), closingOf(home.account, home.project)))
		id := w.made(k, home, "web")
		w.set(k, id, resources.ClusterDeleted)
		if w.closed(home) {
			w.T.Fatal("occupied by a deleted cluster")
		}
		w.Clock.Add(1 << 20) // much later
		w.made(k, home, "web")
	})
}

// TestEmptyProjectHasNoClusterOnTheWay: a closing and a creation at once are not both
// answered yes; 20 rounds.
func TestEmptyProjectHasNoClusterOnTheWay(t *testing.T) {
	w := newWorld(t)
	for round := range 20 {
		s, k := site{acctA, fmt.Sprintf("proj-r%d-v1", round)}, sorts()[round%2]
		var wg sync.WaitGroup
		var made areatest.Answer
		var occupied bool
		wg.Go(func() { made = w.call(k.create, s, "", k.body("web")) })
		wg.Go(func() { occupied = w.closed(s) })
		wg.Wait()
		if (made.Status == 201) != occupied || made.Status != 201 && made.Status != 503 {
			t.Fatalf("round %d: %d, occupied %t", round, made.Status, occupied)
		}
	}
}

// TestClosingSaysWhenItCannotKnow guarantees that a failing store is not taken for an empty
// project.
func TestClosingSaysWhenItCannotKnow(t *testing.T) {
	w := newWorld(t)
	must.Do(t, w.Store.Close())
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
	w.made(sorts()[0], home, "web") // it is open
}

// TestErrorsNameTheirRoute, and a store that is away is 503.
func TestErrorsNameTheirRoute(t *testing.T) {
	w := newWorld(t)
	must.Do(t, w.Store.Close())
	for _, k := range sorts() {
		for _, route := range []string{k.create, k.list, k.get, k.remove} {
			body := ""
			if route == k.create {
				body = k.body("web")
			}
			w.Expect(w.call(route, home, "", body), 503, `"code":"UNAVAILABLE"`)
			_, err := w.Routes[route](t.Context(), request(home, body))
			var e *resources.Error
			if want := "clusters: " + route + ": "; !errors.As(err, &e) || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
				t.Errorf("%v", err)
			}
		}
	}
}

// TestClustersMoveNoRevision guarantees that caches stay: no decision depends on clusters.
func TestClustersMoveNoRevision(t *testing.T) {
	w := newWorld(t)
	before := must.Get(w.Store.Freshness(t.Context()))(t)
	for _, k := range sorts() {
		w.Expect(w.call(k.remove, home, w.made(k, home, "web"), ""), 200)
	}
	w.closed(home)
	if after, err := w.Store.Freshness(t.Context()); err != nil || after != before {
		t.Errorf("%+v, before %+v, %v", after, before, err)
	}
}

// marks number the attempts of the tests.
var marks atomic.Int64

// closingOf is the next attempt to delete a project.
func closingOf(account, project string) resources.Closing {
	return resources.Closing{AccountID: account, ProjectID: project, Mark: marks.Add(1)}
}

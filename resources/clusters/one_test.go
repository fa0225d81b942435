package clusters_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

// TestClusterIsRead as it was answered when it was made.
func TestClusterIsRead(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		made := w.call(k.create, home, "", k.body("web"))
		got := w.call(k.get, home, made.Str(k.id), "")
		if got.Status != 200 || len(got.Body) != 1 || !strings.HasPrefix(made.Text, strings.TrimSuffix(got.Text, "}")) {
			w.T.Errorf("%d %s, made as %s", got.Status, got.Text, made.Text)
		}
	})
}

// TestClusterIsDeleting: from any state but PENDING, listed and with its name taken; a PENDING
// one is DELETED at once, and its name is free. A repeat answers the same. A deleted cluster
// does not come back.
func TestClusterIsDeleting(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		for _, state := range resources.ClusterStates() {
			id := w.made(k, home, "web")
			w.set(k, id, state)
			w.Clock.Add(int64(time.Hour / time.Millisecond))
			want, moved := k.state(resources.ClusterDeleting), state != resources.ClusterDeleting && state != resources.ClusterDeleted
			gone := state == resources.ClusterPending || state == resources.ClusterDeleted
			if gone {
				want = k.state(resources.ClusterDeleted)
			}
			before := w.call(k.get, home, id, "")
			first := w.call(k.remove, home, id, "")
			w.Expect(first, 200)
			updated := strings.Replace(k.status, "status", "updated_at", 1)
			if first.Str(k.id) != id || first.Str(k.status) != want || len(first.Body) != 1 || (first.Str(updated) != before.Str(updated)) != moved {
				w.T.Errorf("%s: %s, before %s", state, first.Text, before.Text)
			}
			w.Clock.Add(1)
			for _, again := range []areatest.Answer{w.call(k.remove, home, id, ""), w.call(k.get, home, id, "")} {
				if again.Status != 200 || again.Text != first.Text {
					w.T.Errorf("%s: again %d %s, first %s", state, again.Status, again.Text, first.Text)
				}
			}
			if list := w.call(k.list, home, "", ""); gone {
				w.Expect(list, 200, `"total_count":0`)
			} else {
				w.Expect(list, 200, id, `"total_count":1`)
				w.Expect(w.call(k.create, home, "", k.body("web")), 409)
			}
			w.set(k, id, resources.ClusterDeleted) // its name is free
		}
	})
}

// TestClusterOfAnotherPlaceIsNotThere: the answer for another project's, another account's
// and the other kind's cluster is that for an absent one, and nothing changes.
func TestClusterOfAnotherPlaceIsNotThere(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		id, other := w.made(k, home, "web"), sorts()[0]
		if k.name == other.name {
			other = sorts()[1]
		}
		foreign, before := w.made(other, home, "web"), w.call(k.get, home, id, "")
		for _, route := range []string{k.get, k.remove} {
			absent := w.call(route, home, k.name+"-absent-v1", "")
			w.Expect(absent, 404, `"code":"NOT_FOUND"`)
			for _, s := range []site{{acctA, two}, {acctB, one}} {
				if got := w.call(route, s, id, ""); got.Status != 404 || got.Text != absent.Text {
					w.T.Errorf("%s at %v: %d %s", route, s, got.Status, got.Text)
				}
			}
			if got := w.call(route, home, foreign, ""); got.Status != 404 || got.Text != absent.Text {
				w.T.Errorf("%s of the other kind: %d %s", route, got.Status, got.Text)
			}
		}
		if after := w.call(k.get, home, id, ""); after.Text != before.Text {
			w.T.Errorf("%s, before %s", after.Text, before.Text)
		}
	})
}

// TestOneClusterTakesNoQueryAndNoBody: what they ask for would be ignored.
func TestOneClusterTakesNoQueryAndNoBody(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		id := w.made(k, home, "web")
		for _, route := range []string{k.get, k.remove} {
			w.Expect(w.call(route, home, id+"?force=true", ""), 400, "force: ")
			w.Expect(w.call(route, home, id, `{"force":true}`), 400, "force: ")
			w.Expect(w.call(route, home, id, `[]`), 400)
		}
		w.Expect(w.call(k.get, home, id, ""), 200, k.state(resources.ClusterPending))
	})
}

// TestNameIsTakenOncePerProjectAndKind: 409 for the second one.
func TestNameIsTakenOncePerProjectAndKind(t *testing.T) {
	w := newWorld(t)
	for _, k := range sorts() {
		for _, s := range []site{home, {acctA, two}, {acctB, one}} {
			w.made(k, s, "web")
		}
	}
	for _, k := range sorts() {
		w.Expect(w.call(k.create, home, "", k.body("web")), 409, `"code":"CONFLICT"`)
		w.made(k, home, "web2")
		w.Expect(w.call(k.list, home, "", ""), 200, `"total_count":2`)
	}
}

// TestTwoAtOnceOfOneName: one is made, one is 409; 10 rounds.
func TestTwoAtOnceOfOneName(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		for round := range 10 {
			var wg sync.WaitGroup
			var got [4]areatest.Answer
			for i := range got {
				wg.Go(func() { got[i] = w.call(k.create, home, "", k.body("web"+string(rune('a'+round)))) })
			}
			wg.Wait()
			statuses := map[int]int{}
			for _, a := range got {
				statuses[a.Status]++
			}
			if statuses[201] != 1 || statuses[409] != 3 {
				w.T.Fatalf("round %d: %v", round, statuses)
			}
		}
		w.Expect(w.call(k.list, home, "", ""), 200, `"total_count":10`)
	})
}

// TestRepeatMakesNoSecondCluster: the same Idempotency-Key answers the first
// answer again, and no other request's.
func TestRepeatMakesNoSecondCluster(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		first := w.send(k.create, home, "", k.body("web"), "key")
		w.Expect(first, 201)
		w.Clock.Add(1000)
		if again := w.send(k.create, home, "", k.body("web"), "key"); again.Status != 201 || again.Text != first.Text {
			w.T.Errorf("%d %s, first %s", again.Status, again.Text, first.Text)
		}
		w.Expect(w.send(k.create, home, "", k.body("web2"), "key"), 409)
		w.Expect(w.send(k.create, site{acctA, two}, "", k.body("web"), "key"), 409)
		w.Expect(w.call(k.list, home, "", ""), 200, `"total_count":1`)
	})
}

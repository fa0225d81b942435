package clusters_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestClusterIsRead as it was answered when it was made.
func TestClusterIsRead(t *testing.T) {
	each(t, func(w *world, k sort) {
		made := w.call(k.create, here, "", k.body("web"))
		got := w.call(k.get, here, made.str(k.id), "")
		if got.status != 200 || len(got.body) != 1 || !strings.HasPrefix(made.text, strings.TrimSuffix(got.text, "}")) {
			w.t.Errorf("%d %s, made as %s", got.status, got.text, made.text)
		}
	})
}

// TestClusterIsDeleting: from any state but PENDING, listed and with its name taken; a PENDING
// one is DELETED at once, and its name is free. A repeat answers the same. What is deleted does not
// come back.
func TestClusterIsDeleting(t *testing.T) {
	each(t, func(w *world, k sort) {
		for _, state := range resources.ClusterStates() {
			id := w.made(k, here, "web")
			w.set(k, id, state)
			w.clock.Add(int64(time.Hour / time.Millisecond))
			want, moved := k.state(resources.ClusterDeleting), state != resources.ClusterDeleting && state != resources.ClusterDeleted
			gone := state == resources.ClusterPending || state == resources.ClusterDeleted
			if gone {
				want = k.state(resources.ClusterDeleted)
			}
			before := w.call(k.get, here, id, "")
			first := w.call(k.remove, here, id, "")
			w.expect(first, 200)
			updated := strings.Replace(k.status, "status", "updated_at", 1)
			if first.str(k.id) != id || first.str(k.status) != want || len(first.body) != 1 || (first.str(updated) != before.str(updated)) != moved {
				w.t.Errorf("%s: %s, before %s", state, first.text, before.text)
			}
			w.clock.Add(1)
			for _, again := range []answer{w.call(k.remove, here, id, ""), w.call(k.get, here, id, "")} {
				if again.status != 200 || again.text != first.text {
					w.t.Errorf("%s: again %d %s, first %s", state, again.status, again.text, first.text)
				}
			}
			if list := w.call(k.list, here, "", ""); gone {
				w.expect(list, 200, `"total_count":0`)
			} else {
				w.expect(list, 200, id, `"total_count":1`)
				w.expect(w.call(k.create, here, "", k.body("web")), 409)
			}
			w.set(k, id, resources.ClusterDeleted) // its name is free
		}
	})
}

// TestClusterOfAnotherPlaceIsNotThere: the answer for another project's, another account's
// and the other kind's cluster is that for an absent one, and nothing changes.
func TestClusterOfAnotherPlaceIsNotThere(t *testing.T) {
	each(t, func(w *world, k sort) {
		id, other := w.made(k, here, "web"), sorts()[0]
		if k.name == other.name {
			other = sorts()[1]
		}
		theirs, before := w.made(other, here, "web"), w.call(k.get, here, id, "")
		for _, route := range []string{k.get, k.remove} {
			absent := w.call(route, here, k.name+"-absent-v1", "")
			w.expect(absent, 404, `"code":"NOT_FOUND"`)
			for _, at := range []site{{acctA, two}, {acctB, one}} {
				if got := w.call(route, at, id, ""); got.status != 404 || got.text != absent.text {
					w.t.Errorf("%s at %v: %d %s", route, at, got.status, got.text)
				}
			}
			if got := w.call(route, here, theirs, ""); got.status != 404 || got.text != absent.text {
				w.t.Errorf("%s of the other kind: %d %s", route, got.status, got.text)
			}
		}
		if after := w.call(k.get, here, id, ""); after.text != before.text {
			w.t.Errorf("%s, before %s", after.text, before.text)
		}
	})
}

// TestOneClusterTakesNoQueryAndNoBody: what they ask for would be ignored.
func TestOneClusterTakesNoQueryAndNoBody(t *testing.T) {
	each(t, func(w *world, k sort) {
		id := w.made(k, here, "web")
		for _, route := range []string{k.get, k.remove} {
			w.expect(w.call(route, here, id+"?force=true", ""), 400, "force: ")
			w.expect(w.call(route, here, id, `{"force":true}`), 400, "force: ")
			w.expect(w.call(route, here, id, `[]`), 400)
		}
		w.expect(w.call(k.get, here, id, ""), 200, k.state(resources.ClusterPending))
	})
}

// TestNameIsTakenOncePerProjectAndKind: 409 for the second one.
func TestNameIsTakenOncePerProjectAndKind(t *testing.T) {
	w := newWorld(t)
	for _, k := range sorts() {
		for _, at := range []site{here, {acctA, two}, {acctB, one}} {
			w.made(k, at, "web")
		}
	}
	for _, k := range sorts() {
		w.expect(w.call(k.create, here, "", k.body("web")), 409, `"code":"CONFLICT"`)
		w.made(k, here, "web2")
		w.expect(w.call(k.list, here, "", ""), 200, `"total_count":2`)
	}
}

// TestTwoAtOnceOfOneName: one is made, one is 409; 10 rounds.
func TestTwoAtOnceOfOneName(t *testing.T) {
	each(t, func(w *world, k sort) {
		for round := range 10 {
			var wg sync.WaitGroup
			var got [4]answer
			for i := range got {
				wg.Go(func() { got[i] = w.call(k.create, here, "", k.body("web"+string(rune('a'+round)))) })
			}
			wg.Wait()
			statuses := map[int]int{}
			for _, a := range got {
				statuses[a.status]++
			}
			if statuses[201] != 1 || statuses[409] != 3 {
				w.t.Fatalf("round %d: %v", round, statuses)
			}
		}
		w.expect(w.call(k.list, here, "", ""), 200, `"total_count":10`)
	})
}

// TestRepeatMakesNoSecondCluster: the same Idempotency-Key answers the first
// answer again, and no other request's.
func TestRepeatMakesNoSecondCluster(t *testing.T) {
	each(t, func(w *world, k sort) {
		first := w.send(k.create, here, "", k.body("web"), "key")
		w.expect(first, 201)
		w.clock.Add(1000)
		if again := w.send(k.create, here, "", k.body("web"), "key"); again.status != 201 || again.text != first.text {
			w.t.Errorf("%d %s, first %s", again.status, again.text, first.text)
		}
		w.expect(w.send(k.create, here, "", k.body("web2"), "key"), 409)
		w.expect(w.send(k.create, site{acctA, two}, "", k.body("web"), "key"), 409)
		w.expect(w.call(k.list, here, "", ""), 200, `"total_count":1`)
	})
}

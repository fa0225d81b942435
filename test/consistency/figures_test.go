package consistency_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// TestFiguresOfARevoke measures the time from a revoke to its answer, with a lease and without one, and from the answer
// until all replicas have denied.
func TestFiguresOfARevoke(t *testing.T) {
	tier.Check(t)
	rounds := 10
	if long() {
		rounds = 200
	}
	var figures strings.Builder
	for _, lease := range []string{"0s", "200ms"} {
		w := newWorld(t, program(t, ""), servers.Mongo(t, 1), shape{leases: []string{lease, lease, lease}, accounts: 1, perKind: 1})
		c, cl := newClient(w), w.cells[0]
		asking := make([]*client, len(w.replicas))
		for i := range asking {
			asking[i] = newClient(w)
		}
		for range rounds {
			c.certainly(cl, w.any())
			began := w.h.now()
			c.certainly(cl, w.any())
			answered := w.h.now()
			var wait sync.WaitGroup
			for i, r := range w.replicas {
				wait.Go(func() { asking[i].ask(cl, r, false) })
			}
			wait.Wait()
			w.h.took("revoke sent to answered", answered-began)
			w.h.took("revoke sent to denied by all replicas", w.h.now()-began)
			w.h.took("answered to denied by all replicas", w.h.now()-answered)
		}
		fmt.Fprintf(&figures, "lease %s:\n", lease)
		w.figures(&figures, "revoke sent to answered", "revoke sent to denied by all replicas", "answered to denied by all replicas")
		w.must(w.verdict())
	}
	t.Log("\n" + figures.String())
}

// TestFiguresWithoutRedis measures questions before, during and after an outage of Redis, among changes.
func TestFiguresWithoutRedis(t *testing.T) {
	tier.Check(t)
	each := 2 * time.Second
	if long() {
		each = 15 * time.Second
	}
	w := newWorld(t, program(t, ""), servers.Mongo(t, 1), shape{leases: []string{"200ms", "200ms", "200ms"}, accounts: 3, perKind: 3})
	w.cells = slices.DeleteFunc(w.cells, func(cl *cell) bool { return cl.kind.name == "key" }) // a key must exist before a question
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() { newClient(w).writes(w.cells, stop) })
	for range 4 {
		wait.Go(func() {
			c := newClient(w)
			for !stopped(stop) {
				began, phase := w.h.now(), w.phase.Load()
				c.ask(w.cells[int(began/time.Microsecond)%len(w.cells)], w.any(), false)
				if phase != nil {
					w.h.took(*phase, w.h.now()-began)
				}
			}
		})
	}
	phases := []string{"Redis there", "Redis gone", "Redis back"}
	for i, step := range []func(){func() {}, w.redis.Kill, func() { w.redis.Start(t) }} {
		step()
		w.phase.Store(&phases[i])
		time.Sleep(each)
	}
	close(stop)
	wait.Wait()
	var figures strings.Builder
	w.figures(&figures, phases...)
	t.Log("\n" + figures.String())
	w.must(w.verdict())
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// figures prints the percentiles of the named times.
func (w *world) figures(out *strings.Builder, names ...string) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	for _, name := range names {
		all := slices.Sorted(slices.Values(w.h.waits[name]))
		if len(all) == 0 {
			w.t.Errorf("%s: nothing was measured", name)
			continue
		}
		fmt.Fprintf(out, "  %-40s %6d times, p50 %s, p99 %s, max %s\n", name, len(all), short(percentile(all, .5)), short(percentile(all, .99)), short(all[len(all)-1]))
	}
}

// must fails the test on a violation, or if nothing was judged.
func (w *world) must(v *verdict) {
	w.t.Helper()
	for _, text := range v.violations {
		w.t.Error(text)
	}
	if v.judged == 0 || v.writes == 0 {
		w.t.Error("nothing was judged")
	}
	if w.t.Failed() {
		for _, r := range w.replicas {
			w.t.Logf("replica %d said:\n%s", r.n, r.said())
		}
	}
}

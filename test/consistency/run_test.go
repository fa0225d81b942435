package consistency_test

import (
	"math/rand/v2"
	"sync"
	"time"
)

// hot remembers the cells that were changed last.
type hot struct {
	mu    sync.Mutex
	cells [16]*cell
	n     int
}

func (h *hot) put(c *cell) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cells[h.n%len(h.cells)] = c
	h.n++
}

func (h *hot) get() *cell {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cells[rand.IntN(len(h.cells))]
}

// clients is the number of clients of a run.
type clients struct {
	writers, readers int
}

// judgeEvery is the time between two verdicts during a run.
const judgeEvery = 3 * time.Second

// run runs clients, duels and faults until the time is over, the model has judged enough answers, or it finds a
// violation.
func (w *world) run(c clients, faults []fault, most time.Duration, enough int) *verdict {
	w.t.Helper()
	stop, ended := make(chan struct{}), time.After(most)
	var wait sync.WaitGroup
	w.work(c, &wait, stop)
	for _, d := range w.duels {
		wait.Go(func() { d.run(stop) })
	}
	wait.Go(func() { w.disturb(faults, stop) })
	tick := time.NewTicker(judgeEvery)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-tick.C:
			v := w.verdict()
			over = len(v.violations) > 0 || enough > 0 && v.judged >= enough
		}
	}
	close(stop)
	wait.Wait()
	return w.verdict()
}

// work runs clients until stop is closed. They close their connections then.
func (w *world) work(c clients, wait *sync.WaitGroup, stop <-chan struct{}) {
	for n := range c.writers {
		var cells []*cell
		for i, cl := range w.cells {
			if i%c.writers == n {
				cells = append(cells, cl)
			}
		}
		wait.Go(func() {
			c := newClient(w)
			defer c.http.CloseIdleConnections()
			c.writes(cells, stop)
		})
	}
	for range c.readers {
		wait.Go(func() {
			c := newClient(w)
			defer c.http.CloseIdleConnections()
			c.asks(stop)
		})
	}
}

// settle asks about every cell strictly, after the last change of unknown outcome. So the model sees whether all
// answered changes are still there.
func (w *world) settle() {
	w.t.Helper()
	c := newClient(w)
	var last time.Duration
	for _, cl := range w.cells {
		last = max(last, cl.quietUntil)
	}
	time.Sleep(last - w.h.now())
	for _, cl := range w.cells {
		for _, r := range w.replicas {
			c.ask(cl, r, true)
		}
	}
}

// verdict judges the history so far.
func (w *world) verdict() *verdict {
	ops, broken := w.h.copied()
	v := judge(ops)
	v.violations, v.count = append(broken, v.violations...), v.count+len(broken)
	return v
}

package consistency_test

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"
)

// fault causes a failure and ends it.
type fault struct {
	name string
	do   func(w *world, stop <-chan struct{})
}

// sleep sleeps for d, or until stop is closed.
func sleep(d time.Duration, stop <-chan struct{}) {
	select {
	case <-stop:
	case <-time.After(d):
	}
}

// between returns a random duration from a to b.
func between(a, b time.Duration) time.Duration { return a + rand.N(b-a) }

// disturb causes the faults one after the other, in random order, until stop is closed.
func (w *world) disturb(faults []fault, stop <-chan struct{}) {
	for len(faults) > 0 {
		for _, n := range rand.Perm(len(faults)) {
			sleep(between(200*time.Millisecond, time.Second), stop)
			select {
			case <-stop:
				return
			default:
			}
			began := w.h.now()
			faults[n].do(w, stop)
			w.h.took("fault: "+faults[n].name, w.h.now()-began)
		}
	}
}

// redisFaults returns faults of Redis. They may cost time only.
func redisFaults() []fault {
	return []fault{
		{"Redis flushed", func(w *world, _ <-chan struct{}) {
			_ = w.redis.Client(w.t).FlushAll(context.Background()) // a killed Redis is empty anyway
		}},
		{"Redis killed", func(w *world, stop <-chan struct{}) {
			w.redis.Kill()
			sleep(between(500*time.Millisecond, 2*time.Second), stop)
			w.redis.Start(w.t)
		}},
		{"Redis paused", func(w *world, stop <-chan struct{}) {
			resume := w.redis.Pause(w.t)
			sleep(between(200*time.Millisecond, time.Second), stop)
			resume()
		}},
		{"Redis back at an old copy", rollBack},
		{"Redis written to by somebody else", forge},
	}
}

// rollBack restores the values that Redis had some seconds before, as a failover to an old replica does.
func rollBack(w *world, stop <-chan struct{}) {
	ctx, c := context.Background(), w.redis.Client(w.t)
	old := map[string]string{}
	keys := c.Scan(ctx, 0, "*", 1000).Iterator()
	for keys.Next(ctx) {
		old[keys.Val()], _ = c.Dump(ctx, keys.Val()).Result()
	}
	sleep(between(time.Second, 3*time.Second), stop)
	_ = c.FlushAll(ctx)
	for k, v := range old {
		if v != "" {
			_ = c.Restore(ctx, k, time.Hour, v) // a value that can't be restored is a miss
		}
	}
}

// replicaFaults returns faults of the gateways.
func replicaFaults() []fault {
	return []fault{
		{"replica paused", func(w *world, stop <-chan struct{}) {
			r := w.any()
			r.signal(w.t, syscall.SIGSTOP)
			sleep(between(100*time.Millisecond, 1500*time.Millisecond), stop)
			r.signal(w.t, syscall.SIGCONT)
		}},
		{"replica killed", func(w *world, stop <-chan struct{}) {
			r := w.any()
			r.kill()
			sleep(between(0, time.Second), stop)
			r.start(w.t)
		}},
	}
}

// mongoFaults returns faults of a set of three MongoDB nodes.
func mongoFaults() []fault {
	return []fault{
		{"primary stepped down", func(w *world, _ <-chan struct{}) { w.mongo.StepDown(w.t) }},
		{"primary paused", func(w *world, stop <-chan struct{}) {
			resume := w.mongo.Pause(w.t, w.mongo.Primary(w.t))
			sleep(between(200*time.Millisecond, 4*time.Second), stop)
			resume()
			w.mongo.AwaitPrimary(w.t)
		}},
		{"majority paused", func(w *world, stop <-chan struct{}) {
			resume := w.mongo.Pause(w.t, w.mongo.Others(w.mongo.Primary(w.t))...)
			sleep(between(200*time.Millisecond, time.Second), stop)
			resume()
			w.mongo.AwaitPrimary(w.t)
		}},
		{"primary cut off, and its changes rolled back", func(w *world, stop <-chan struct{}) {
			restart := w.mongo.KillMajority(w.t, false)
			sleep(between(500*time.Millisecond, 2*time.Second), stop)
			restart()
		}},
	}
}

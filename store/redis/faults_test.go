package redis_test

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

const (
	// bound is what one look may take (TestSlowRedisIsLeftAlone holds it to that), and
	// atMost what it takes when other processes have the machine.
	bound  = 50 * time.Millisecond
	atMost = 2 * time.Second
)

// look is a Get that may bring nothing, in time, and never another's value.
func look(t *testing.T, r *redis.Cache, values map[string][]byte) (wrong string) {
	t.Helper()
	started := time.Now()
	wrong = lacking(t, r, values)
	if took := time.Since(started); took > atMost {
		t.Errorf("a look took %s: %s", took, wrong)
	}
	return wrong
}

// untilFound looks until all values are there, and says how many looks found less.
func untilFound(t *testing.T, r *redis.Cache, values map[string][]byte, each func()) (less int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		wrong := look(t, r, values)
		if wrong == "" {
			return less
		}
		if time.Now().After(end) {
			t.Fatalf("not found again: %s", wrong)
		}
		less++
		each()
	}
}

// TestFailoverCostsHitsOnly: the master is killed, looks bring nothing for a while, each
// in its time, and the replica answers them when it is the master.
func TestFailoverCostsHitsOnly(t *testing.T) {
	t.Parallel()
	s := servers.NewRedisSentinel(t, nil)
	r, values := onRedis(t, s.URL), some(20)
	keeps(t, r, values)
	if n := s.Master.Client(t).Wait(t.Context(), 1, soon).Val(); n != 1 {
		t.Fatal("the replica has not all of it")
	}
	s.Master.Kill()
	less := untilFound(t, r, values, func() {})
	if less == 0 {
		t.Error("nobody noticed that the master was killed")
	}
	t.Logf("%d looks brought nothing", less)
	keeps(t, r, map[string][]byte{"az1:new": []byte("1")})
}

// TestClusterNodeThatIsGoneCostsItsKeysOnly, and they are kept again when it is back.
func TestClusterNodeThatIsGoneCostsItsKeysOnly(t *testing.T) {
	t.Parallel()
	cluster := servers.NewRedisCluster(t)
	r, all := onRedis(t, cluster.URL), some(60)
	keeps(t, r, all)
	gone := cluster.Nodes[1]
	kept := map[string][]byte{}
	for k, v := range all {
		if gone.Client(t).Exists(t.Context(), k).Err() != nil { // MOVED: another's
			kept[k] = v
		}
	}
	if len(kept) == 0 || len(kept) == len(all) {
		t.Fatalf("%d of %d keys are on other nodes", len(kept), len(all))
	}
	gone.Kill()
	if wrong := look(t, r, all); wrong == "" {
		t.Error("values of a node that is gone")
	}
	untilFound(t, r, kept, func() {})
	for range 20 {
		look(t, r, all) // in its time, and nothing wrong
	}
	gone.Start(t)
	keeps(t, r, all)
}

// TestNothingIsTriedTwice guarantees that the cache retries neither a broken answer nor a refused connection. The
// caller reads the store instead.
func TestNothingIsTriedTwice(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", servers.Address(t)))(t)
	var calls atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = c.Close()
		}
	}()
	r := onRedis(t, "redis://"+l.Addr().String())
	if _, err := r.Get(t.Context(), "a"); err == nil {
		t.Error("an answer of nobody")
	}
	harness.Soon(t, "the call is accepted", func() bool { return calls.Load() > 0 })
	if n := calls.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	must.Do(t, l.Close())
	r = onRedis(t, "redis://"+l.Addr().String())
	quickest := atMost
	for range 4 {
		started := time.Now()
		if _, err := r.Get(t.Context(), "a"); err == nil {
			t.Fatal("an answer of nobody")
		}
		quickest = min(quickest, time.Since(started))
	}
	if quickest > bound/2 {
		t.Errorf("a connection that was refused at once took %s", quickest)
	}
}

// TestSlowRedisIsLeftAlone: an answer that does not come costs 50 ms, and after five of
// them in a row nobody waits.
func TestSlowRedisIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() (url string, pause func() func()){
		"one server": func() (string, func() func()) {
			s := servers.NewRedis(t)
			return s.URL, func() func() { return s.Pause(t) }
		},
		"sentinels": func() (string, func() func()) {
			s := servers.NewRedisSentinel(t, nil)
			return s.URL, func() func() { return s.Pause(t) }
		},
		"cluster": func() (string, func() func()) {
			c := servers.NewRedisCluster(t)
			return c.URL, func() func() { return c.Pause(t) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, pause := start()
			r, values := onRedis(t, url), some(20)
			keeps(t, r, values)
			resume := pause()
			defer resume()
			var took [5]time.Duration
			for n := range took {
				started := time.Now()
				if lacking(t, r, values) == "" {
					t.Error("an answer of a server that is paused")
				}
				took[n] = time.Since(started)
			}
			slices.Sort(took[:])
			if took[0] < bound*9/10 || took[0] > 2*bound || took[4] > atMost {
				t.Errorf("looks took %v", took)
			}
			started := time.Now()
			for range 1000 {
				if lacking(t, r, values) == "" {
					t.Fatal("an answer of a server that is paused")
				}
			}
			if took := time.Since(started); took > 5*time.Second { // all of them would wait for fifty
				t.Errorf("a thousand looks after the fifth took %s", took)
			}
			resume()
			untilFound(t, r, values, func() {})
		})
	}
}

package clusters_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

const (
	workers  = 10
	orders   = 40
	leaseFor = 30_000
)

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

// TestTenWorkers make 40 clusters in two accounts, and take half of them away, while they are killed
// and lose leases: no cluster has two live claims or is made twice, and none is forgotten.
func TestTenWorkers(t *testing.T) { newWorld(t).tenWorkers(2_000) }

// TestTenWorkersOnMongoDB is the same on a real replica set, where two processes share the database.
func TestTenWorkersOnMongoDB(t *testing.T) {
	w := newWorld(t)
	url := servers.Mongo(t, 1).Database(t)
	open := func() store.Store {
		s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: w.Collections.Schemas()}))(t)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	w.Store = open()
	w.svc = clusters.New(w.config(w.Store))
	w.Routes = w.svc.Routes()
	second := w.subTest(t)
	second.Store = open()
	second.Routes = clusters.New(second.config(second.Store)).Routes()
	w.tenWorkers(100, second)
}

// held is what the workers saw of one cluster.
type held struct {
	attempts map[string][]span // by intent
	made     int
}

// span is the time of a claim, by the clock of the test.
type span struct {
	attempt     int
	start, till resources.Time
}

// shift is the workers of a test.
type shift struct {
	*clustersWorld
	mu   sync.Mutex
	seen map[string]*held
}

// tenWorkers runs the workers on the world and others. The clock moves by so many milliseconds at a time.
func (w *clustersWorld) tenWorkers(step int64, clustersWorlds ...*clustersWorld) {
	replicas := append([]*clustersWorld{w}, clustersWorlds...)
	s := &shift{clustersWorld: w, seen: map[string]*held{}}
	var gone []func()
	for i := range orders {
		k, place := sorts()[i%2], []site{home, {acctB, one}}[i/2%2]
		id := w.made(k, place, fmt.Sprintf("c%d", i))
		s.seen[id] = &held{attempts: map[string][]span{}}
		if i%4 < 2 {
			gone = append(gone, func() { w.Expect(w.call(k.remove, place, id, ""), 200) })
		}
	}
	stop := make(chan struct{})
	var beside, work sync.WaitGroup
	beside.Go(func() { s.moveClock(stop, step) })
	beside.Go(func() {
		for _, remove := range gone {
			remove()
		}
	})
	end := time.Now().Add(time.Minute)
	for i := range workers {
		work.Go(func() {
			for life := 0; time.Now().Before(end) && !s.done(); life++ {
				s.live(replicas[i%len(replicas)], fmt.Sprintf("service-worker-%d-%d", i, life))
			}
		})
	}
	work.Wait()
	close(stop)
	beside.Wait()
	s.verify()
}

// moveClock lets leases end.
func (s *shift) moveClock(stop chan struct{}, step int64) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
			s.Clock.Add(rand.Int64N(step))
		}
	}
}

// live is the life of a worker: it is killed at some point, and leaves what it has claimed.
func (s *shift) live(w *clustersWorld, name string) {
	for range 1 + rand.IntN(4) {
		claims := w.claim(name, `{"max":3,"lease_seconds":30}`)
		s.claimed(claims)
		for _, c := range claims {
			switch rand.IntN(6) {
			case 0:
				return // killed
			case 1: // slow: perhaps the lease ends
				time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			case 2:
				if got := w.report(c.id, name, `{"extend_seconds":30}`); got.Status == 200 {
					s.extended(c, got.Str("lease_until"))
				}
			}
			s.finish(w, name, c)
		}
	}
}

// finish reports the last word twice, as a worker does whose answer was lost.
func (s *shift) finish(w *clustersWorld, name string, c taken) {
	status := "RUNNING"
	if c.intent == "delete" {
		status = "DELETED"
	}
	if c.kind == "gpu" {
		status = strings.ToLower(status)
	} else {
		status = "CLUSTER_STATUS_" + status
	}
	first := w.report(c.id, name, `{"status":"`+status+`"}`)
	if again := w.report(c.id, name, `{"status":"`+status+`"}`); first.Status == 200 && again.Status != 200 {
		s.T.Errorf("repeated: %d %s", again.Status, again.Text)
	}
	if first.Status != 200 && first.Status != 409 {
		s.T.Errorf("%d %s", first.Status, first.Text)
	}
	if first.Status == 200 && c.intent == "provision" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[c.cluster].made++
	}
}

func parse(t *testing.T, lease string) (moment resources.Time) {
	if err := json.Unmarshal([]byte(`"`+lease+`"`), &moment); err != nil {
		t.Error(err)
	}
	return moment
}

func (s *shift) claimed(claims []taken) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		till, h := parse(s.T, c.lease), s.seen[c.cluster]
		h.attempts[c.intent] = append(h.attempts[c.intent], span{c.attempt, till - leaseFor, till})
	}
}

func (s *shift) extended(c taken, lease string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.seen[c.cluster].attempts[c.intent]
	for i := range all {
		if all[i].attempt == c.attempt {
			all[i].till = max(all[i].till, parse(s.T, lease))
		}
	}
}

// done says whether no cluster has an intent any more.
func (s *shift) done() bool {
	for _, k := range sorts() {
		for _, place := range []site{home, {acctB, one}} {
			for _, state := range []resources.ClusterState{resources.ClusterPending, resources.ClusterProvisioning, resources.ClusterDeleting} {
				if s.call(k.list, place, "?status="+k.state(state), "").Int("total_count") > 0 {
					return false
				}
			}
		}
	}
	return true
}

// verify holds the claims of each cluster to the rules.
func (s *shift) verify() {
	if !s.done() {
		s.T.Error("clusters were forgotten")
	}
	lost := 0
	for id, h := range s.seen {
		if h.made > 1 {
			s.T.Errorf("%s was made %d times", id, h.made)
		}
		for intent, spans := range h.attempts {
			byAttempt := map[int]span{}
			for _, one := range spans {
				if _, twice := byAttempt[one.attempt]; twice {
					s.T.Errorf("%s: attempt %d to %s was claimed twice", id, one.attempt, intent)
				}
				byAttempt[one.attempt] = one
			}
			for n, one := range byAttempt {
				before, ok := byAttempt[n-1]
				if n > 1 && (!ok || one.start < before.till) {
					s.T.Errorf("%s: attempt %d began at %v, the one before ended at %v", id, n, one.start, before.till)
				}
			}
			lost += len(spans) - 1
		}
	}
	s.T.Logf("%d claims were lost", lost)
}

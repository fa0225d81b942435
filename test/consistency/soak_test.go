package consistency_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// envSoak is the time of a long soak, such as 5m.
const envSoak = "PORTCULLIS_TEST_SOAK"

// TestSoakLeavesNothingBehindAndNoAnswerIsWrong guarantees, under good and bad clients, restarts and faults at once,
// that the model allows each answer. Nothing panics or answers 500. When the bad clients have gone, the gateways return
// to their level of memory, goroutines and descriptors.
func TestSoakLeavesNothingBehindAndNoAnswerIsWrong(t *testing.T) {
	tier.Check(t)
	d, long := 6*time.Second, os.Getenv(envSoak) != ""
	if long {
		var err error
		if d, err = time.ParseDuration(os.Getenv(envSoak)); err != nil || d < 0 {
			t.Fatalf("%s: must be a duration such as 5m, not %q", envSoak, os.Getenv(envSoak))
		}
	}
	if _, err := servers.Mongod(); long && err == nil {
		d /= 2
	}
	t.Run("embedded store", func(t *testing.T) {
		soaked(t, nil, []string{""}, d)
	})
	if !long { // the other tests here are short runs of replicas
		return
	}
	t.Run("three replicas", func(t *testing.T) {
		servers.NeedMongod(t)
		soaked(t, servers.NewMongo(t, 1), []string{"200ms", "200ms", "200ms"}, d)
	})
}

// soak is a run of the soak.
type soak struct {
	*world
	storm *storm
	// rests has a line about each gateway at rest.
	rests []string
}

// coldUsers is the number of unknown users in questions: enough for new ones during a whole storm, and few enough to
// fit into the caches.
const coldUsers = 2000

// soaked runs rounds of restarts, of warming up and of storms until the time is over.
func soaked(t *testing.T, set *servers.ReplicaSet, leases []string, d time.Duration) {
	s := &soak{world: newWorld(t, program(t, ""), set, shape{
		leases: leases, accounts: 4, perKind: 3, proxied: true,
		args: append(widgets(t), "--pprof", "--read-timeout", "2s", "--write-timeout", "2s"),
	})}
	s.storm = &storm{world: s.world, p: s.cells[0].place, seen: map[string]int{}}
	rounds := max(1, int(d/(75*time.Second)))
	each := d / time.Duration(rounds)
	for n := range rounds {
		s.during(each/6, func(stop <-chan struct{}, wait *sync.WaitGroup) {
			wait.Go(func() { s.disturb(s.restarts(), stop) })
		})
		s.during(each/4, nil)
		before := s.levels(fmt.Sprintf("round %d, warm", n+1), nil)
		for m := range 2 {
			s.during(each/4, s.rage)
			s.levels(fmt.Sprintf("round %d, after storm %d", n+1, m+1), before)
		}
	}
	if os.Getenv(envSoak) != "" {
		s.settle() // waits for changes of unknown outcome
	}
	s.finish(s.verdict())
}

// restarts returns the faults that restart gateways, and those of Redis, if there is one.
func (s *soak) restarts() []fault {
	faults := []fault{replicaFaults()[1], {"replica terminated", func(w *world, _ <-chan struct{}) {
		r := w.any()
		if code, took := r.terminate(w.t); code != 0 || took > 11*time.Second {
			w.h.violated(fmt.Sprintf("replica %d: SIGTERM ended it with %d after %s", r.n, code, took))
		}
		r.start(w.t)
	}}}
	if s.redis != nil {
		faults = append(faults, redisFaults()...)
	}
	return faults
}

// during runs good clients for some time, and more besides them.
func (s *soak) during(d time.Duration, more func(stop <-chan struct{}, wait *sync.WaitGroup)) {
	stop := make(chan struct{})
	var wait sync.WaitGroup
	s.work(clients{writers: 3, readers: 3}, &wait, stop)
	for range 3 {
		wait.Go(func() {
			c := newClient(s.world)
			defer c.http.CloseIdleConnections()
			for !stopped(stop) {
				s.askConstant(c)
			}
		})
	}
	if more != nil {
		more(stop, &wait)
	}
	time.Sleep(d)
	close(stop)
	wait.Wait()
}

func (s *soak) rage(stop <-chan struct{}, wait *sync.WaitGroup) {
	s.storm.stop = stop
	for range 24 {
		wait.Go(s.storm.rage)
	}
}

// known asks what has one answer for ever: of an admin, of another account's, and of one of
// many users who do not exist.
func (s *soak) askConstant(c *client) {
	first, second := s.lasting(), s.lasting()
	for user, want := range map[string]bool{
		first.admin: true, second.admin: first == second, fmt.Sprintf("user-cold%d-v1", rand.IntN(coldUsers)): false,
	} {
		a, err := c.send(s.any(), request{
			method: "POST", path: "/api/v1/authorize/accounts/" + first.account + "/projects/" + first.project + "/x", token: s.checker,
			header: map[string]string{"X-User-ID": user, "X-Account-ID": first.account, "X-Action": action},
		}, false)
		var body struct {
			Allowed *bool `json:"allowed"`
		}
		switch {
		case err != nil || a.status == http.StatusServiceUnavailable:
			s.h.none()
		case a.status != http.StatusOK || json.Unmarshal(a.body, &body) != nil || body.Allowed == nil || *body.Allowed != want:
			s.h.violated(fmt.Sprintf("may %s in %s: %d %s, and not %t", user, first.account, a.status, a.body, want))
		default:
			s.h.addConstant()
		}
	}
}

// lasting returns a place that no change concerns.
func (s *soak) lasting() place {
	for {
		if c := s.cells[rand.IntN(len(s.cells))]; c.kind.name != "account" {
			return c.place
		}
	}
}

// levels returns the levels of all gateways at rest. A gateway above its level in before is a violation.
func (s *soak) levels(when string, before []level) (now []level) {
	s.t.Helper()
	answered := s.h.answered()
	for n, r := range s.replicas {
		if before == nil {
			now = append(now, r.level(s.t, answered))
		} else {
			current, beyond := r.rest(s.t, before[n], answered)
			if now = append(now, current); beyond != "" {
				s.h.violated(fmt.Sprintf("%s: replica %d is not back: %s", when, n, beyond))
			}
		}
		s.rests = append(s.rests, fmt.Sprintf("%-24s replica %d: %s", when, n, now[n]))
	}
	return now
}

// finish prints the figures, and fails the test on a violation.
func (s *soak) finish(v *verdict) {
	s.t.Helper()
	for _, r := range s.replicas {
		for _, line := range r.broken {
			v.violated("replica %d wrote: %s", r.n, line)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "level at rest; at most %d goroutines, %d descriptors, and of memory a quarter, %d MiB and %d KiB a question above that of the warm gateway:\n",
		moreGoroutines, moreDescriptors, moreMemory, keptOfQuestion)
	for _, line := range s.rests {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	fmt.Fprintf(&b, "%d correct answers to questions with a constant answer\n", s.h.constant)
	fmt.Fprintln(&b, "connections of bad clients:")
	for _, name := range slices.Sorted(maps.Keys(s.storm.seen)) {
		fmt.Fprintf(&b, "  %-40s %6d\n", name, s.storm.seen[name])
	}
	s.t.Log("\n" + b.String())
	s.report(v)
}

// widgets starts an upstream, and returns the arguments for a route to it.
func widgets(t *testing.T) []string {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "widgets")
	}))
	t.Cleanup(upstream.Close)
	dir := t.TempDir()
	for _, part := range []string{"authz", "grants", "routes", "schemas"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../../policies", part))))
	}
	path := filepath.Join(dir, "routes", "data.json")
	raw := must.Get(os.ReadFile(path))(t)
	row := `{"W1": {"method": "GET", "path": "/api/v1/accounts/{accountId}/projects/{projectId}/widgets", ` +
		`"action": "` + widget + `", "effect": "read", "area": "compute", "upstream": "widgets"},`
	must.Do(t, os.WriteFile(path, []byte(strings.Replace(string(raw), "{", row, 1)), 0o600))
	return []string{"--policy-dir", dir, "--upstream", "widgets=" + upstream.URL}
}

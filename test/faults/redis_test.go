package faults_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// shelf is two replicas with a Redis for each row to spoil, and a user whose role comes and goes.
type shelf struct {
	*harness.Replicas
	client *redis.Client
	user   string
	// before are the values of before the last change.
	before map[string]string
}

func startShelf(t *testing.T) *shelf {
	t.Helper()
	r := harness.StartReplicas(t, 2)
	s := &shelf{Replicas: r, client: r.Redis.Client(t), user: "user-shelf-v1"}
	s.AddUser(t, s.user)
	return s
}

// row grants and revokes, has one replica fill Redis, spoils that, and asks the other one:
// its answers are those of the store, and it counts what it found. On a busy machine a value
// may not come to Redis in time, and be spoiled in another round only.
func (s *shelf) row(counted string, spoil func(t *testing.T) (undo func())) func(*testing.T) {
	return func(t *testing.T) {
		before, quickest := looksOf(t, s.All[1], counted), time.Hour
		path := harness.AssignmentPath("project_reader", s.user, s.Project)
		for round := range 4 {
			s.before = s.values(t)
			method, body, want := "PUT", "{}", true
			if round%2 == 1 {
				method, body, want = "DELETE", "", false
			}
			s.Must(t, 200, method, path, body)
			wantAllowed(t, s.Replicas, 0, s.Admin, true)
			wantAllowed(t, s.Replicas, 0, s.user, want)
			undo := spoil(t)
			started := time.Now()
			for _, n := range []int{1, 0, 1} {
				wantAllowed(t, s.Replicas, n, s.user, want)
			}
			quickest = min(quickest, time.Since(started))
			for _, g := range s.All {
				g.WantReady(t, 200)
			}
			undo()
		}
		if quickest > 3*time.Second {
			t.Errorf("three questions took %s at least", quickest)
		}
		if after := looksOf(t, s.All[1], counted); after <= before {
			t.Errorf("%s was not counted: %v, then %v", counted, before, after)
		}
		wantJSONLog(t, s.Replicas)
	}
}

func wantAllowed(t *testing.T, r *harness.Replicas, replica int, user string, want bool) {
	t.Helper()
	got := r.AskAt(t, replica, user, "project:instance:read", "/projects/"+r.Project+"/instances/i-1")
	if got.Status != 200 || got.Body["allowed"] != want {
		t.Errorf("%s on replica %d: %d %s, want %v", user, replica, got.Status, got.Raw, want)
	}
}

// wantJSONLog: drivers write no lines of their own beside the log.
func wantJSONLog(t *testing.T, r *harness.Replicas) {
	t.Helper()
	for _, g := range r.All {
		for line := range strings.Lines(g.Stderr.String()) {
			if !strings.HasPrefix(line, `{"time":`) {
				t.Errorf("not a line of the log: %q", line)
			}
		}
	}
}

// looksOf is how many looks into the shared cache had this result.
func looksOf(t *testing.T, g *harness.Gateway, result string) float64 {
	t.Helper()
	return harness.MetricOf(t, g, `portcullis_shared_cache_lookups_total{result="`+result+`"}`)
}

// values are all that Redis holds.
func (s *shelf) values(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range s.client.Keys(t.Context(), "*").Val() {
		all[key] = s.client.Get(t.Context(), key).Val()
	}
	return all
}

// spoilEach writes other values under the keys.
func (s *shelf) spoilEach(t *testing.T, withKey func(key, value string) string) (undo func()) {
	t.Helper()
	for key, value := range s.values(t) {
		must.Do(t, s.client.Set(t.Context(), key, withKey(key, value), time.Hour).Err())
	}
	return func() {}
}

func (s *shelf) garbage(t *testing.T) (undo func()) {
	return s.spoilEach(t, func(_, value string) string { return string(bytes.Repeat([]byte{0xa5}, len(value))) })
}

func (s *shelf) cut(t *testing.T) (undo func()) {
	return s.spoilEach(t, func(_, value string) string { return value[:len(value)/2] })
}

// anAdmins puts the facts about the admin, authentic ones, where those about other users were.
func (s *shelf) anAdmins(t *testing.T) (undo func()) {
	for name, admins := range s.values(t) {
		if strings.Contains(name, s.Admin) {
			return s.spoilEach(t, func(key, value string) string {
				if strings.Contains(key, s.user) {
					return admins
				}
				return value
			})
		}
	}
	return func() {} // there are none
}

func (s *shelf) otherType(t *testing.T) (undo func()) {
	for key := range s.values(t) {
		must.Do(t, s.client.Del(t.Context(), key).Err())
		must.Do(t, s.client.LPush(t.Context(), key, "x").Err())
	}
	return func() { s.flush(t) }
}

func (s *shelf) flush(t *testing.T) (undo func()) {
	must.Do(t, s.client.FlushAll(t.Context()).Err())
	return func() {}
}

// oldCopy is a fail-over to a copy of before the last change.
func (s *shelf) oldCopy(t *testing.T) (undo func()) {
	s.flush(t)
	for key, value := range s.before {
		must.Do(t, s.client.Set(t.Context(), key, value, time.Hour).Err())
	}
	return func() {}
}

func (s *shelf) pause(t *testing.T) (undo func()) { return s.Redis.Pause(t) }

func (s *shelf) kill(t *testing.T) (undo func()) {
	s.Redis.Kill()
	return func() { s.Redis.Start(t) }
}

package rolecache_test

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

func onRedis(t *testing.T, url string) *redis.Cache {
	t.Helper()
	client := must.Get(redis.NewClient(url))(t)
	t.Cleanup(func() { _ = client.Close() })
	return client.Cache(nil, nil)
}

// late reports whether the error is a timeout, as on a busy machine.
func late(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// TestOldCopyAfterFailoverIsHarmless guarantees that caches return the suspended user after a fail-over of Redis to a
// copy from before the suspension.
func TestOldCopyAfterFailoverIsHarmless(t *testing.T) {
	t.Parallel()
	s, w := servers.NewRedisSentinel(t, nil), newWorld(t)
	askReplica := func() resources.Facts {
		c, _ := w.replica(onRedis(t, s.URL), secret)
		return ask(t, c)
	}
	if want := askReplica(); want.Subject.UserStatus != "ACTIVE" {
		t.Fatalf("%+v", want.Subject)
	}
	replica := s.Replica.Client(t)
	harness.Soon(t, "the replica has a copy", func() bool {
		askReplica()
		return replica.DBSize(t.Context()).Val() >= 2
	})
	s.Detach(t)
	w.set(user, func(u *resources.User) { u.Status = "SUSPENDED" })
	harness.Soon(t, "the master has the new value", func() bool {
		if facts := askReplica(); facts.Subject.UserStatus != "SUSPENDED" {
			t.Fatalf("%+v", facts.Subject)
		}
		return s.Master.Client(t).DBSize(t.Context()).Val() >= 4
	})
	s.Master.Kill()
	s.WaitForFailover(t)
	r := onRedis(t, s.URL)
	harness.Soon(t, "the new master answers", func() bool {
		r.Set(t.Context(), map[string][]byte{"az1:asked": []byte("1")})
		got, err := r.Get(t.Context(), "az1:asked")
		return err == nil && got[0] != nil
	})
	want := []string{"miss"}
	for range 20 { // on a busy machine a look may time out; that cache then stores the value, and the next one hits
		c, seen := w.replica(r, secret)
		got := ask(t, c)
		late := slices.Equal(*seen, []string{"down"})
		if got.Subject.UserStatus != "SUSPENDED" || !late && !slices.Contains(want, strings.Join(*seen, " ")) {
			t.Errorf("%+v, observed %v", got.Subject, *seen)
		}
		if !late {
			return
		}
		want = []string{"miss", "hit"}
	}
	t.Error("no look came to its end")
}

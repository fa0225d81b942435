package redis_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// trusted is the authority this test process trusts. SSL_CERT_FILE names it, as operators do.
var trusted *servers.Authority

func TestMain(m *testing.M) {
	var err error
	if trusted, err = servers.NewAuthority(); err == nil {
		err = os.Setenv("SSL_CERT_FILE", trusted.File)
	}
	if err != nil {
		servers.Stop()
		panic(err)
	}
	os.Exit(servers.Run(m))
}

func onRedis(t *testing.T, url string) *redis.Cache {
	t.Helper()
	return connect(t, url).Cache(nil, nil)
}

func connect(t *testing.T, url string) *redis.Client {
	t.Helper()
	c := must.Get(redis.NewClient(url))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestRedisKeepsWhatIsSet, for an hour at most, and says nothing of what it has not.
func TestRedisKeepsWhatIsSet(t *testing.T) {
	server := servers.NewRedis(t)
	r := onRedis(t, server.URL)
	keeps(t, r, map[string][]byte{"a": []byte("1\x00\xff"), "b": {}})
	if got := lookup(t, r, "b", "absent", "a"); len(got) != 3 || got[0] == nil || len(got[0]) != 0 || got[1] != nil || string(got[2]) != "1\x00\xff" {
		t.Errorf("%q", got)
	}
	if ttl := server.Client(t).TTL(t.Context(), "a").Val(); ttl <= 59*time.Minute || ttl > time.Hour {
		t.Errorf("kept for %s", ttl)
	}
}

// TestRedisCostsLittleTimeWhenItIsGone: 50 ms each, then nothing for a second, and it is
// asked again when it is back.
func TestRedisCostsLittleTimeWhenItIsGone(t *testing.T) {
	for name, fault := range map[string]func(*servers.RedisServer) (back func()){
		"killed": func(s *servers.RedisServer) func() { s.Kill(); return func() { s.Start(t) } },
		"paused": func(s *servers.RedisServer) func() { return s.Pause(t) },
	} {
		t.Run(name, func(t *testing.T) {
			server := servers.NewRedis(t)
			r := onRedis(t, server.URL)
			r.Set(t.Context(), map[string][]byte{"a": []byte("1")})
			back := fault(server)
			started := time.Now()
			for range 100 {
				if _, err := r.Get(t.Context(), "a"); err == nil {
					t.Fatal("an answer of a server that is gone")
				}
			}
			if took := time.Since(started); took > 4*time.Second { // all of them would wait for five
				t.Errorf("100 looks took %s", took)
			}
			back()
			harness.Soon(t, "it is asked again", func() bool {
				_, err := r.Get(t.Context(), "a")
				return err == nil
			})
		})
	}
}

// TestRequestThatGoesAwayIsNoFault of Redis.
func TestRequestThatGoesAwayIsNoFault(t *testing.T) {
	r := onRedis(t, servers.NewRedis(t).URL)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 20 {
		_, _ = r.Get(gone, "a")
	}
	if _, err := r.Get(t.Context(), "a"); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err) // left alone
	}
	lookup(t, r, "a")
}

// TestRequestThatGoesAwayBringsNothingBack guarantees that the cache takes Redis for gone until Redis has answered,
// also if callers leave meanwhile.
func TestRequestThatGoesAwayBringsNothingBack(t *testing.T) {
	server := servers.NewRedis(t)
	r := connect(t, server.URL).Cache(nil, nil)
	server.Kill()
	harness.Soon(t, "it is tried again", func() bool {
		if r.Breaker() == "closed" {
			_, _ = r.Get(t.Context(), "a")
		}
		return r.Breaker() == "half-open"
	})
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := r.Get(gone, "a"); !errors.Is(err, context.Canceled) || r.Breaker() != "half-open" {
		t.Errorf("%s after %v", r.Breaker(), err)
	}
}

// TestRedisURL: one server, a cluster, sentinels; what can't be read, or would not be heeded,
// is refused and not repeated.
func TestRedisURL(t *testing.T) {
	for _, url := range []string{
		"redis://h", "redis://h:1", "redis://u:p@h:1/2", "redis://[::1]:1", "rediss://h:1", "redis://h:1?addr=h:2&addr=h:3", "redis://h:1?addr=h:1",
		"redis://h:1?master_name=m", "redis://h:1/3?master_name=m&addr=h:2", "rediss://u:p@h:1?master_name=m&sentinel_username=u&sentinel_password=p",
	} {
		if c, err := redis.NewClient(url); err != nil {
			t.Errorf("%s: %v", url, err)
		} else if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	const server = "redis://u:S3CR3T@h:1"
	for _, url := range []string{
		"", "h:1", "http://u:S3CR3T@h", "unix:///S3CR3T", "redis://u:S3CR3T@", "redis://u:S3CR3T@h:port", server + "/x", server + "/1/2", "redis://u:S3C%R3T@h",
		server + "?unknown=1", server + "?addr", server + "?addr=h", server + "?addr=:2", server + "/2?addr=h:2", server + "?master_name", server + "?master_name=a&master_name=b",
		server + "?sentinel_password=S3CR3T", server + "?sentinel_username=u&addr=h:2", server + "?%zz",
		// Known to the driver, and overruled, dangerous or the end of the process.
		server + "?max_retries=5", server + "?read_timeout=5s", server + "?skip_verify=true", server + "?master_name=m&route_by_latency=true", server + "?db=2",
	} {
		if _, err := redis.NewClient(url); !errors.Is(err, redis.ErrURL) || strings.Contains(err.Error(), "S3C") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestOperatorHearsOnceThatRedisIsGone, with the reason, and once that it is back.
func TestOperatorHearsOnceThatRedisIsGone(t *testing.T) {
	server := servers.NewRedis(t)
	var heard []error
	r := connect(t, server.URL).Cache(func(cause error) { heard = append(heard, cause) }, nil)
	values := map[string][]byte{"a": []byte("1")}
	keeps(t, r, values)
	server.Kill()
	// The breaker asks a server that is gone once a second, and says nothing more when it is gone still.
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, _ = r.Get(t.Context(), "a")
	}
	// On a busy machine it may not even be refused in time.
	if len(heard) != 1 || !errors.Is(heard[0], syscall.ECONNREFUSED) && !late(heard[0]) {
		t.Fatalf("%v", heard)
	}
	server.Start(t)
	keeps(t, r, values)
	if len(heard) != 2 || heard[1] != nil {
		t.Errorf("%v", heard)
	}
}

// TestOperatorHearsOnceThatRedisTakesNoValues guarantees one report with the reason, and one of the end. Meanwhile the
// cache reads the values in Redis. A server that is gone is reported by the other function alone.
func TestOperatorHearsOnceThatRedisTakesNoValues(t *testing.T) {
	for name, ends := range map[string]func(client *driver.Client) (back func() error){
		"a full server": func(client *driver.Client) func() error {
			must.Do(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
			return func() error { return client.ConfigSet(t.Context(), "maxmemory", "0").Err() }
		},
		"a replica": func(client *driver.Client) func() error {
			must.Do(t, client.ReplicaOf(t.Context(), "127.0.0.1", "1").Err())
			return func() error { return client.ReplicaOf(t.Context(), "NO", "ONE").Err() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := servers.NewRedis(t)
			var answers, takes []error
			r := connect(t, server.URL).Cache(func(cause error) { answers = append(answers, cause) }, func(cause error) { takes = append(takes, cause) })
			values := map[string][]byte{"a": []byte("1")}
			keeps(t, r, values)
			back := ends(server.Client(t))
			for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				for range 10 {
					r.Set(t.Context(), values)
				}
				lookup(t, r, "a")
			}
			if len(takes) != 1 || takes[0] == nil || len(answers) > 0 {
				t.Fatalf("%v, %v", takes, answers)
			}
			must.Do(t, back())
			harness.Soon(t, "it takes values again", func() bool {
				r.Set(t.Context(), values)
				return len(takes) == 2
			})
			server.Kill()
			for range 20 {
				_, _ = r.Get(t.Context(), "a")
				r.Set(t.Context(), values)
			}
			if takes[1] != nil || len(takes) != 2 || len(answers) != 1 {
				t.Errorf("%v, %v", takes, answers)
			}
		})
	}
}

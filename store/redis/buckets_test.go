package redis_test

import (
	"crypto/rand"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

func newBuckets(t *testing.T, url, secret string, changed func(error)) *redis.Buckets {
	t.Helper()
	return connect(t, url).Buckets([]byte(secret), changed)
}

// take takes until it has an answer: a busy machine may need more than 50 ms. An answer that came too late
// may have been taken all the same.
func take(t *testing.T, r *redis.Buckets, name string, interval time.Duration, burst, n int) (given int, full time.Duration) {
	t.Helper()
	return answered(t, func() (int, time.Duration, error) { return r.Take(t.Context(), name, interval, burst, n, 1) })
}

// answered calls until there is an answer.
func answered(t *testing.T, call func() (int, time.Duration, error)) (given int, full time.Duration) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		given, full, err := call()
		if err == nil {
			return given, full
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestTwoReplicasTakeOutOfOneBucket, no more than is in it, and others have their own.
func TestTwoReplicasTakeOutOfOneBucket(t *testing.T) {
	t.Parallel()
	url, secret := servers.Redis(t).URL, rand.Text()
	one, two := newBuckets(t, url, secret, nil), newBuckets(t, url, secret, nil)
	name := ""
	answered(t, func() (int, time.Duration, error) { // all of it anew where one came too late
		name += "a"
		return inTurns(t, name, one, two)
	})
	if given, _ := take(t, one, "b", time.Hour, 10, 4); given != 4 {
		t.Errorf("%d out of another bucket", given)
	}
	if given, _ := take(t, newBuckets(t, url, rand.Text(), nil), name, time.Hour, 10, 4); given != 4 {
		t.Errorf("%d out of another installation's", given)
	}
}

// inTurns empties a bucket of ten by takes of four.
func inTurns(t *testing.T, name string, replicas ...*redis.Buckets) (given int, full time.Duration, err error) {
	t.Helper()
	for i, want := range []int{4, 4, 2, 0, 0} {
		if given, full, err = replicas[i%len(replicas)].Take(t.Context(), name, time.Hour, 10, 4, 1); err != nil {
			return given, full, err
		}
		taken := min(4*(i+1), 10)
		if most := time.Duration(taken) * time.Hour; given != want || full > most || full < most-time.Minute {
			t.Errorf("take %d: %d, full in %s; want %d, %s", i+1, given, full, want, most)
		}
	}
	return given, full, nil
}

// TestFewerThanLeastAreNotTaken, and stay for others.
func TestFewerThanLeastAreNotTaken(t *testing.T) {
	t.Parallel()
	r := newBuckets(t, servers.Redis(t).URL, rand.Text(), nil)
	name := ""
	answered(t, func() (given int, full time.Duration, err error) { // all of it anew where one came too late
		name += "a"
		for i, c := range []struct{ n, least, want int }{{6, 6, 6}, {6, 5, 0}, {6, 4, 4}, {1, 1, 0}} {
			if given, full, err = r.Take(t.Context(), name, time.Hour, 10, c.n, c.least); err != nil {
				return given, full, err
			}
			if given != c.want {
				t.Errorf("take %d: %d, want %d", i+1, given, c.want)
			}
		}
		return given, full, nil
	})
}

// TestTokensComeWithTime: one in each interval by the server's clock, and nothing stays behind when it is full.
func TestTokensComeWithTime(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	r, client := newBuckets(t, server.URL, "s", nil), server.Client(t)
	const interval = 300 * time.Millisecond
	began := time.Now()
	take(t, r, "a", interval, 3, 3)
	got := 0
	for end := time.Now().Add(30 * time.Second); got < 3 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		given, _ := take(t, r, "a", interval, 3, 1)
		got += given
		if most := int(time.Since(began)/interval) + 1; got > most {
			t.Fatalf("%d tokens after %s", got, time.Since(began))
		}
	}
	keys := client.Keys(t.Context(), "*").Val()
	if len(keys) != 1 || !strings.HasPrefix(keys[0], "az1:rate:") || strings.Contains(keys[0], ":a") {
		t.Errorf("keys: %q", keys)
	}
	harness.Soon(t, "a full bucket is gone", func() bool { return len(client.Keys(t.Context(), "*").Val()) == 0 })
}

// TestWhatSomebodyElseWroteIsWithinTheBucket: neither more tokens than it holds nor a wait
// that is longer than it takes to fill.
func TestWhatSomebodyElseWroteIsWithinTheBucket(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	r, client := newBuckets(t, server.URL, "s", nil), server.Client(t)
	take(t, r, "a", time.Hour, 10, 1)
	key := client.Keys(t.Context(), "*").Val()[0]
	for text, want := range map[string]int{"-1": 10, "9e99": 0, "x": 10, "": 10, "nan": 10, "inf": 0, "1": 10, "0x7": 10} {
		given, full := answered(t, func() (int, time.Duration, error) {
			client.Set(t.Context(), key, text, 0)
			return r.Take(t.Context(), "a", time.Hour, 10, 100, 1)
		})
		if given != want || full > 10*time.Hour {
			t.Errorf("%q: %d, full in %s", text, given, full)
		}
	}
}

// TestRedisThatHangsIsLeftAlone: each take fails in time and is reported once; when it answers
// again it is asked again.
func TestRedisThatHangsIsLeftAlone(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	causes := make(chan error, 100)
	r := newBuckets(t, server.URL, "s", func(cause error) { causes <- cause })
	take(t, r, "a", time.Hour, 1000, 1)
	resume := server.Pause(t)
	quick := 0
	for range 20 {
		began := time.Now()
		if _, _, err := r.Take(t.Context(), "a", time.Hour, 1000, 1, 1); err == nil {
			t.Error("an answer of a server that is stopped")
		}
		switch took := time.Since(began); {
		case took > atMost:
			t.Errorf("a take took %s", took)
		case took < 5*time.Millisecond:
			quick++
		}
	}
	if quick < 10 {
		t.Errorf("%d of 20 did not wait", quick)
	}
	resume()
	take(t, r, "a", time.Hour, 1000, 1)
	if cause := <-causes; cause == nil {
		t.Error("it is not said why it is left alone")
	}
	if cause := <-causes; cause != nil || len(causes) > 0 {
		t.Errorf("%v, and %d more", cause, len(causes))
	}
}

func TestServerThatIsNoRedisIsAnError(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	r := newBuckets(t, "redis://"+l.Addr().String(), "s", nil)
	began := time.Now()
	if _, _, err := r.Take(t.Context(), "a", time.Hour, 10, 1, 1); err == nil || time.Since(began) > atMost {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// TestRightsThatTheScriptNeeds are those of the operator's page.
func TestRightsThatTheScriptNeeds(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	args := strings.Fields("ACL SETUSER portcullis on nopass resetkeys ~az1:* resetchannels -@all +get +set +eval +evalsha +time")
	command := make([]any, len(args))
	for i, a := range args {
		command[i] = a
	}
	must.Do(t, server.Client(t).Do(t.Context(), command...).Err())
	url := strings.Replace(server.URL, "redis://", "redis://portcullis:x@", 1)
	if given, _ := take(t, newBuckets(t, url, "s", nil), "a", time.Hour, 10, 3); given != 3 {
		t.Errorf("%d given", given)
	}
}

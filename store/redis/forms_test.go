package redis_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/redis"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// soon is the longest wait for the first lookup. It opens connections, and asks sentinels or a cluster for the
// servers.
const soon = 30 * time.Second

// keeps fails unless the values are there under their keys, at the latest soon.
func keeps(t *testing.T, r *redis.Cache, values map[string][]byte) {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		r.Set(t.Context(), values)
		wrong := lacking(t, r, values)
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(wrong)
		}
	}
}

// found are the values of a look that came to its end, at the latest soon: a busy machine
// can make one late.
func lookup(t *testing.T, r *redis.Cache, keys ...string) [][]byte {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		got, err := r.Get(t.Context(), keys...)
		if err == nil {
			return got
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// lacking says which value is not there. One that is there and is another fails the test.
func lacking(t *testing.T, r *redis.Cache, values map[string][]byte) string {
	t.Helper()
	var keys []string
	for k := range values {
		keys = append(keys, k)
	}
	got, err := r.Get(t.Context(), append(keys, "az1:absent")...)
	if err != nil {
		return err.Error()
	}
	if got[len(keys)] != nil {
		t.Fatalf("a value that nobody set: %q", got[len(keys)])
	}
	for i, k := range keys {
		if got[i] == nil {
			return k + " is missing"
		}
		if string(got[i]) != string(values[k]) {
			t.Fatalf("%s: %q, want %q", k, got[i], values[k])
		}
	}
	return ""
}

// late says whether an answer did not come in time, as on a busy machine.
func late(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// some values, enough for each node of a cluster to hold a few.
func some(n int) map[string][]byte {
	values := map[string][]byte{}
	for i := range n {
		values["az1:"+strconv.Itoa(i)] = fmt.Appendf(nil, "value\x00%d", i)
	}
	return values
}

// TestRedisByURL: one server, sentinels and a cluster, each without and with passwords;
// what is set through the URL is found through it, and a wrong password finds nothing.
func TestRedisByURL(t *testing.T) {
	t.Parallel()
	password, another := rand.Text(), rand.Text()
	locked := servers.WithPassword(password)
	sentinel := func(t *testing.T, guard, options []servers.RedisOption) string {
		return servers.NewRedisSentinel(t, guard, options...).URL
	}
	options := []servers.RedisOption{locked}
	for name, c := range map[string]struct {
		start func(t *testing.T) string
		guard string // the sentinels' own password
		pass  string
	}{
		"one server":                     {start: func(t *testing.T) string { return servers.NewRedis(t).URL }},
		"one server, password":           {start: func(t *testing.T) string { return servers.NewRedis(t, locked).URL }, pass: password},
		"cluster":                        {start: func(t *testing.T) string { return servers.NewRedisCluster(t).URL }},
		"cluster, password":              {start: func(t *testing.T) string { return servers.NewRedisCluster(t, locked).URL }, pass: password},
		"sentinels":                      {start: func(t *testing.T) string { return sentinel(t, nil, nil) }},
		"sentinels, password of servers": {start: func(t *testing.T) string { return sentinel(t, nil, options) }, pass: password},
		"sentinels, password of both": {
			start: func(t *testing.T) string {
				return sentinel(t, []servers.RedisOption{servers.WithPassword(another)}, options)
			},
			guard: another, pass: password,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := c.start(t)
			keeps(t, onRedis(t, signIn(plain, c.guard, c.pass)), some(40))
			if c.pass == "" {
				return
			}
			for name, url := range map[string]string{"no password": plain, "a wrong one": signIn(plain, c.guard, another+"x")} {
				if _, err := onRedis(t, url).Get(t.Context(), "az1:1"); err == nil {
					t.Errorf("%s found values", name)
				}
			}
		})
	}
}

// signIn puts passwords into a URL: the servers', and that of the sentinels themselves.
func signIn(url, guard, pass string) string {
	if pass != "" {
		url = servers.As(url, "default", pass)
	}
	if guard != "" {
		url += "&sentinel_password=" + guard
	}
	return url
}

// TestRedisUserNeedsTwoCommands: GET and SET under this program's prefix, and in a cluster
// the question where the slots are.
func TestRedisUserNeedsTwoCommands(t *testing.T) {
	t.Parallel()
	password := rand.Text()
	rules := []any{"acl", "setuser", "portcullis", "on", ">" + password, "resetkeys", "~az1:*", "resetchannels", "-@all", "+get", "+set"}
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		server := servers.NewRedis(t)
		must.Do(t, server.Client(t).Do(t.Context(), rules...).Err())
		keepsOnly(t, onRedis(t, servers.As(server.URL, "portcullis", password)), some(10))
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		cluster := servers.NewRedisCluster(t)
		for _, n := range cluster.Nodes {
			must.Do(t, n.Client(t).Do(t.Context(), append(rules, "+cluster|slots")...).Err())
		}
		keepsOnly(t, onRedis(t, servers.As(cluster.URL, "portcullis", password)), some(10))
	})
}

// keepsOnly is keeps, where no other key can be read.
func keepsOnly(t *testing.T, r *redis.Cache, values map[string][]byte) {
	t.Helper()
	keeps(t, r, values)
	if _, err := r.Get(t.Context(), "elsewhere"); err == nil {
		t.Error("the user reads keys of others")
	}
}

var reads = regexp.MustCompile(`total_reads_processed:(\d+)`)

// TestClusterIsAskedOncePerNode: the keys of one look go to each node together.
func TestClusterIsAskedOncePerNode(t *testing.T) {
	t.Parallel()
	cluster := servers.NewRedisCluster(t)
	r, values := onRedis(t, cluster.URL), some(60)
	keeps(t, r, values) // connections are there now
	count := func() (total int) {
		for _, n := range cluster.Nodes {
			c := n.Client(t)
			if keys := c.DBSize(t.Context()).Val(); keys < 5 {
				t.Fatalf("a node has %d keys", keys)
			}
			match := reads.FindStringSubmatch(c.Info(t.Context(), "stats").Val())
			n := must.Get(strconv.Atoi(match[1]))(t)
			total += n
		}
		return total
	}
	first := count()
	overhead := count() - first // what counting itself costs
	var asked int
	for range 5 { // a look that is late begins anew, on connections of its own
		before := count()
		wrong := lacking(t, r, values)
		if asked = count() - before - overhead; wrong == "" && asked <= len(cluster.Nodes) {
			return
		}
	}
	t.Errorf("%d keys took %d reads of %d nodes", len(values), asked, len(cluster.Nodes))
}

var commands = regexp.MustCompile(`cmdstat_(\S+?):`)

// TestConnectionIsReadyAfterOneCommand, which is HELLO.
func TestConnectionIsReadyAfterOneCommand(t *testing.T) {
	t.Parallel()
	server := servers.NewRedis(t)
	client := server.Client(t)
	must.Do(t, client.ConfigResetStat(t.Context()).Err())
	lookup(t, onRedis(t, server.URL), "az1:1")
	var sent []string
	for _, match := range commands.FindAllStringSubmatch(client.Info(t.Context(), "commandstats").Val(), -1) {
		sent = append(sent, match[1])
	}
	slices.Sort(sent)
	if want := []string{"config|resetstat", "get", "hello"}; !slices.Equal(sent, want) {
		t.Errorf("the server was sent %q, want %q", sent, want)
	}
	if refused := client.Info(t.Context(), "errorstats").Val(); strings.Contains(refused, "errorstat_") {
		t.Errorf("the server refused a command: %s", refused)
	}
}

// TestMovedSlotIsFollowed in the same look: a cluster that is made larger costs nothing. A look that a busy machine makes
// late says nothing.
func TestMovedSlotIsFollowed(t *testing.T) {
	t.Parallel()
	cluster := servers.NewRedisCluster(t)
	r := onRedis(t, cluster.URL)
	values := map[string][]byte{"az1:a": []byte("1")}
	for end := time.Now().Add(soon); ; {
		keeps(t, r, values) // it knows where the slot is
		cluster.Move(t, "az1:a")
		_, err := r.Get(t.Context(), "az1:a")
		if err == nil {
			break
		}
		if !late(err) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
	keeps(t, r, values)
}

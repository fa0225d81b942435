package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// sentinelMaster is the name under which the sentinel knows the servers.
const sentinelMaster = "cache"

// RedisSentinel is a master and its replica, with a sentinel that makes the replica master
// half a second after the master has gone.
type RedisSentinel struct {
	// URL is of the sentinel, and names the master.
	URL             string
	Master, Replica *RedisServer
	sentinel        *RedisServer
}

// NewRedisSentinel starts the three. The options are the master's and the replica's;
// sentinel has those of the sentinel.
func NewRedisSentinel(t testing.TB, sentinel []RedisOption, options ...RedisOption) *RedisSentinel {
	t.Helper()
	s := &RedisSentinel{Master: NewRedis(t, append(options, withArgs("--repl-diskless-sync-delay", "0"))...)}
	s.Replica = NewRedis(t, append(options, withArgs("--replicaof", "127.0.0.1", strconv.Itoa(s.Master.port)))...)
	s.sentinel = newRedis(t, sentinel...)
	file := filepath.Join(s.sentinel.dir, "sentinel.conf") // it writes there what it learns
	if err := os.WriteFile(file, []byte(s.config()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.sentinel.args = append([]string{file}, append(s.sentinel.args, "--sentinel")...)
	s.sentinel.Start(t)
	s.URL = s.sentinel.URL + "?" + url.Values{"master_name": {sentinelMaster}}.Encode()
	if err := until(func() error { return s.ready(t) }); err != nil {
		t.Fatalf("the sentinel is not ready: %v\n%s", err, tail(s.sentinel.p.output.String()))
	}
	return s
}

func (s *RedisSentinel) config() string {
	lines := []string{
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 1", sentinelMaster, s.Master.port),
		"sentinel down-after-milliseconds " + sentinelMaster + " 500",
		"sentinel failover-timeout " + sentinelMaster + " 2000",
	}
	if s.Master.password != "" {
		lines = append(lines, "sentinel auth-pass "+sentinelMaster+" "+s.Master.password)
	}
	return strings.Join(lines, "\n") + "\n"
}

// ready says whether the replica has all of the master, and the sentinel knows it.
func (s *RedisSentinel) ready(t testing.TB) error {
	t.Helper()
	ctx := context.Background()
	info, err := s.Replica.Client(t).Info(ctx, "replication").Result()
	if err != nil || !strings.Contains(info, "master_link_status:up") {
		return fmt.Errorf("the replica: %s, %w", info, err)
	}
	replicas, err := s.client(t).Replicas(ctx, sentinelMaster).Result()
	if err != nil || len(replicas) != 1 || replicas[0]["flags"] != "slave" || replicas[0]["master-link-status"] != "ok" {
		return fmt.Errorf("the sentinel knows %v, %w", replicas, err)
	}
	return nil
}

func (s *RedisSentinel) client(t testing.TB) *redis.SentinelClient {
	t.Helper()
	c := redis.NewSentinelClient(s.sentinel.Client(t).Options())
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Detach has the replica hear nothing more of the master. It can become master for five
// seconds from now.
func (s *RedisSentinel) Detach(t testing.TB) {
	t.Helper()
	c := s.Master.Client(t)
	for _, command := range [][]any{{"acl", "setuser", "default", "-psync", "-sync"}, {"client", "kill", "type", "replica"}} {
		if err := c.Do(context.Background(), command...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// WaitForFailover waits until the replica is the master, and takes writes.
func (s *RedisSentinel) WaitForFailover(t testing.TB) {
	t.Helper()
	sentinel, replica := s.client(t), s.Replica.Client(t)
	err := until(func() error {
		address, err := sentinel.GetMasterAddrByName(context.Background(), sentinelMaster).Result()
		if err != nil {
			return err
		}
		if len(address) != 2 || address[1] != strconv.Itoa(s.Replica.port) {
			return errors.New("the master is still " + strings.Join(address, ":"))
		}
		return replica.Set(context.Background(), "ready", "", 0).Err()
	})
	if err != nil {
		t.Fatalf("no fail-over: %v\n%s", err, tail(s.sentinel.p.output.String()))
	}
}

// Pause stops the master, the replica and the sentinel in their tracks; the function it
// gives lets them go on.
func (s *RedisSentinel) Pause(t testing.TB) (resume func()) {
	t.Helper()
	return pauseAll(t, s.sentinel, s.Replica, s.Master)
}

package servers

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisServer is a redis-server of a test.
type RedisServer struct {
	// URL is redis://host:port.
	URL  string
	path string
	port int
	p    *process
}

// NewRedis starts an empty server that keeps nothing on disk.
func NewRedis(t testing.TB) *RedisServer {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		missing(t, "SKIPPED: no redis-server in PATH; install redis-server to test with a real Redis")
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	r := &RedisServer{URL: "redis://127.0.0.1:" + strconv.Itoa(port), path: path, port: port}
	r.Start(t)
	return r
}

// Start starts it, also after Kill: empty, at the same port.
func (r *RedisServer) Start(t testing.TB) {
	t.Helper()
	p, err := start(r.path, "--port", strconv.Itoa(r.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	if err != nil {
		t.Fatal(err)
	}
	r.p = p
	if err := until(func() error { return r.Client(t).Ping(context.Background()).Err() }); err != nil {
		t.Fatalf("redis-server does not answer: %v\n%s", err, tail(p.output.String()))
	}
}

// Client is one of the test's own.
func (r *RedisServer) Client(t testing.TB) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + strconv.Itoa(r.port)})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Kill ends it at once.
func (r *RedisServer) Kill() { r.p.kill() }

// Pause stops it in its tracks; the function it gives lets it go on.
func (r *RedisServer) Pause(t testing.TB) (resume func()) {
	t.Helper()
	signal := func(s syscall.Signal) {
		if err := r.p.cmd.Process.Signal(s); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }
}

package servers

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisServer is a redis-server of a test.
type RedisServer struct {
	// URL is redis://127.0.0.1:port, or rediss:// of a server that speaks TLS; without a
	// password.
	URL  string
	port int
	args []string
	dir  string
	// password is the default user's, if there is one.
	password string
	p        *process
}

// sharedRedis is the server that tests share.
var sharedRedis struct {
	sync.Mutex
	server *RedisServer
}

// Redis gives the shared server: gateways keep the keys of different databases apart.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	sharedRedis.Lock()
	defer sharedRedis.Unlock()
	if sharedRedis.server == nil {
		sharedRedis.server = NewRedis(t)
	}
	return sharedRedis.server
}

// NewRedis starts an empty server that keeps nothing on disk.
func NewRedis(t testing.TB, options ...RedisOption) *RedisServer {
	t.Helper()
	r := newRedis(t, options...)
	r.Start(t)
	return r
}

// RedisOption is how a server differs from the plain one.
type RedisOption func(*RedisServer)

// WithPassword has clients sign in.
func WithPassword(password string) RedisOption {
	return func(r *RedisServer) {
		r.password = password
		r.args = append(r.args, "--requirepass", password, "--masterauth", password)
	}
}

// WithTLS has the server speak TLS only, with a certificate of the authority in which the
// names stand, or 127.0.0.1 without one.
func WithTLS(t testing.TB, a *Authority, names ...string) RedisOption {
	t.Helper()
	certificate, key := a.Certificate(t, names...)
	return func(r *RedisServer) {
		r.URL = "rediss://127.0.0.1:" + strconv.Itoa(r.port)
		r.args = append(r.args, "--tls-port", strconv.Itoa(r.port), "--port", "0", "--tls-cert-file", certificate,
			"--tls-key-file", key, "--tls-ca-cert-file", a.File, "--tls-auth-clients", "no", "--tls-replication", "yes", "--tls-cluster", "yes")
	}
}

func withArgs(args ...string) RedisOption {
	return func(r *RedisServer) { r.args = append(r.args, args...) }
}

func newRedis(t testing.TB, options ...RedisOption) *RedisServer {
	t.Helper()
	redisBinary(t)
	port, err := reservedPort()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	r := &RedisServer{URL: "redis://127.0.0.1:" + strconv.Itoa(port), port: port, dir: dir}
	r.args = []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no"}
	for _, option := range options {
		option(r)
	}
	return r
}

func redisBinary(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		missing(t, "SKIPPED: no redis-server in PATH; install redis-server to test with a real Redis")
	}
	return path
}

// Start starts it, also after Kill: empty, at the same port.
func (r *RedisServer) Start(t testing.TB) {
	t.Helper()
	p, err := start(redisBinary(t), r.args...)
	if err != nil {
		t.Fatal(err)
	}
	r.p = p
	c := r.Client(t)
	if err := until(func() error { return c.Ping(context.Background()).Err() }); err != nil {
		t.Fatalf("redis-server does not answer: %v\n%s", err, tail(p.output.String()))
	}
}

// Client is one of the test's own.
func (r *RedisServer) Client(t testing.TB) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	o.Password = r.password
	if o.TLSConfig != nil {
		o.TLSConfig.InsecureSkipVerify = true // that certificates are looked at is for tests to show
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Address is host:port.
func (r *RedisServer) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }

// As is a Redis URL with which a user signs in.
func As(address, user, password string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic("servers: a URL of our own: " + err.Error())
	}
	u.User = url.UserPassword(user, password)
	return u.String()
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

func pauseAll(t testing.TB, all ...*RedisServer) (resume func()) {
	t.Helper()
	var each []func()
	for _, r := range all {
		each = append(each, r.Pause(t))
	}
	return func() {
		for _, resume := range each {
			resume()
		}
	}
}

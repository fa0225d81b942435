package harness

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// Gateway is a `portcullis serve` started by a test, or several as replicas of each other.
type Gateway struct {
	// URL is the edge, UsersURL the same edge on the users' listener, HealthURL the private one.
	// See edgeFirst for the order of the first two.
	URL, UsersURL, HealthURL string
	// ExtAuthz is the host:port of Envoy's checks, "" for none.
	ExtAuthz string
	// ConsoleURL is the web console, "" for none.
	ConsoleURL string
	DataDir    string

	// replicas are those behind the addresses, where there are several.
	replicas []*Gateway
	// Stdout and stderr are what all of its processes wrote.
	Stdout, Stderr *Buffer

	// These are of a single process.
	Cmd   *exec.Cmd
	Ready chan map[string]string // where it listens
	Done  chan struct{}
}

// Start runs `portcullis serve` on free loopback ports with a data folder of its
// own, and waits until it is ready. Extra arguments come last.
func Start(t testing.TB, args ...string) *Gateway {
	t.Helper()
	return StartIn(t, t.TempDir(), args...)
}

// StartIn is Start on a data folder that is there.
func StartIn(t testing.TB, dataDir string, args ...string) *Gateway {
	t.Helper()
	args = slices.Concat(StoreArgs(t, dataDir, args), areasBeside(t, dataDir, args), args)
	switch {
	case OnReplicas(): // with the lease that is the default
		return launchReplicas(t, dataDir, args...)
	case OnMongoDB():
		args = append([]string{"--freshness-lease", "0"}, args...)
	}
	return Launch(t, dataDir, args...)
}

// Launch runs one `portcullis serve` and waits until it is ready.
func Launch(t testing.TB, dataDir string, args ...string) *Gateway {
	t.Helper()
	g := begin(t, dataDir, &Buffer{}, &Buffer{}, args...)
	g.Await(t, args...)
	return g
}

// begin starts a `portcullis serve`.
func begin(t testing.TB, dataDir string, stdout, stderr *Buffer, args ...string) *Gateway {
	t.Helper()
	g := &Gateway{
		DataDir: dataDir, Stdout: stdout, Stderr: stderr, Ready: make(chan map[string]string, 1), Done: make(chan struct{}),
	}
	g.run(t, Ephemeral(dataDir, append([]string{"--log-level", "debug"}, args...)...)...)
	return g
}

// run starts the program at debug level, so that what no log may show is not there even then: see secrets.
func (g *Gateway) run(t testing.TB, args ...string) {
	t.Helper()
	g.Cmd = exec.Command(Binary, args...)
	g.Cmd.Env = environment()
	theSecrets.Watch(g.Stdout, g.Stderr)
	pipe := must.Get(g.Cmd.StderrPipe())(t)
	g.Cmd.Stdout = g.Stdout
	must.Do(t, g.Cmd.Start())
	go g.read(pipe)
	t.Cleanup(func() { g.Kill(t) })
}

// StartConsole runs a console for the gateway in a process of its own. Of what it returns only ConsoleURL is an address.
func (g *Gateway) StartConsole(t testing.TB, args ...string) *Gateway {
	t.Helper()
	c := &Gateway{DataDir: g.DataDir, Stdout: &Buffer{}, Stderr: &Buffer{}, Ready: make(chan map[string]string, 1), Done: make(chan struct{})}
	c.run(t, append([]string{
		"console", "--url", g.URL, "--private-url", g.HealthURL, "--data-dir", g.DataDir, "--console-listen", "127.0.0.1:0", "--log-level", "debug",
	}, args...)...)
	select {
	case where := <-c.Ready:
		c.ConsoleURL = "http://" + where["console_listen"]
	case <-c.Done:
		t.Fatalf("the console ended before it was ready: %v\n%s", c.Cmd.ProcessState, c.Stderr)
	case <-time.After(60 * time.Second):
		t.Fatalf("the console is not ready after a minute\n%s", c.Stderr)
	}
	return c
}

// Await waits until it is ready.
func (g *Gateway) Await(t testing.TB, args ...string) {
	t.Helper()
	select {
	case where := <-g.Ready:
		scheme := "http://"
		g.HealthURL, g.ExtAuthz = scheme+where["health_listen"], where["ext_authz_listen"]
		if slices.Contains(args, "--tls-cert-file") {
			scheme = "https://"
		}
		if where["console_listen"] != "" {
			g.ConsoleURL = scheme + where["console_listen"]
		}
		if g.URL = scheme + where["listen"]; where["users_listen"] != "" { // else a process behind gateways
			g.URL, g.UsersURL = edgeFirst(g.URL, scheme+where["users_listen"])
		}
		g.listening(args...)
		theSecrets.Settings(g.DataDir, args)
	case <-g.Done:
		t.Fatalf("serve ended before it was ready: %v\n%s", g.Cmd.ProcessState, g.Stderr)
	case <-time.After(60 * time.Second):
		t.Fatalf("serve is not ready after a minute\n%s", g.Stderr)
	}
}

// read keeps the log and reports the ready line.
func (g *Gateway) read(pipe io.Reader) {
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		_, _ = g.Stderr.Write(append(lines.Bytes(), '\n'))
		if where := ReadyLine(lines.Bytes()); where != nil {
			select {
			case g.Ready <- where:
			default:
			}
		}
	}
	_ = g.Cmd.Wait() // how it ended is in its state
	close(g.Done)
}

// saysReady and saysWhere find the line of the log that says ready, in both of its formats.
var (
	saysReady = regexp.MustCompile(`^(\{.*"msg":"ready"|time=\S+ level=INFO msg=ready )`)
	saysWhere = regexp.MustCompile(`\b(\w*listen)"?[:=]"?([^\s",]+)`)
)

// ReadyLine gives the addresses in a line that says ready, by the names of the settings.
func ReadyLine(line []byte) map[string]string {
	if !saysReady.Match(line) {
		return nil
	}
	where := map[string]string{}
	for _, m := range saysWhere.FindAllSubmatch(line, -1) {
		where[string(m[1])] = string(m[2])
	}
	return where
}

// edgeFirst gives the listener that the tests speak to, and then the other one. Both are
// the same edge, and PORTCULLIS_TEST_EDGE=users has every test speak to the users' one.
func edgeFirst(edge, users string) (url, other string) {
	if os.Getenv("PORTCULLIS_TEST_EDGE") == "users" {
		return users, edge
	}
	return edge, users
}

// Each are its processes.
func (g *Gateway) Each() []*Gateway {
	if g.replicas == nil {
		return []*Gateway{g}
	}
	return g.replicas
}

// Kill ends it at once, with SIGKILL: all of its processes.
func (g *Gateway) Kill(t testing.TB) {
	t.Helper()
	g.signal(t, os.Kill)
	for _, p := range g.Each() {
		<-p.Done
	}
}

// Terminate sends SIGTERM to all of its processes.
func (g *Gateway) Terminate(t testing.TB) {
	t.Helper()
	g.signal(t, syscall.SIGTERM)
}

func (g *Gateway) signal(t testing.TB, s os.Signal) {
	t.Helper()
	for _, p := range g.Each() {
		if err := p.Cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	}
}

// Ended waits for the end of all of its processes, and gives the exit code: the highest.
func (g *Gateway) Ended(t testing.TB) int {
	t.Helper()
	limit, code := time.After(30*time.Second), 0
	for _, p := range g.Each() {
		select {
		case <-p.Done:
			code = max(code, p.Cmd.ProcessState.ExitCode())
		case <-limit:
			t.Fatalf("serve does not end\n%s", p.Stderr)
		}
	}
	return code
}

// Buffer is a buffer that one goroutine writes and another reads.
type Buffer struct {
	Mu  sync.Mutex
	buf bytes.Buffer
	// all, where there is one, is given everything too.
	all *Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.all != nil {
		_, _ = b.all.Write(p) // never fails
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.buf.Write(p)
}

// String returns all that was written until now.
func (b *Buffer) String() string {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.buf.String()
}

package api_test

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
)

// gatewayProcess is a `portcullis serve` that a test has started, or several that are
// replicas of each other.
type gatewayProcess struct {
	// URL is the edge, UsersURL the same edge on the users' listener, HealthURL the private
	// one. See edgeFirst for which of the first two is which.
	URL, UsersURL, HealthURL string
	DataDir                  string

	// replicas are those behind the addresses, where there are several.
	replicas []*gatewayProcess
	// stdout and stderr are what all of its processes wrote.
	stdout, stderr *syncBuffer

	// These are of a single process.
	cmd   *exec.Cmd
	ready chan map[string]string // where it listens
	done  chan struct{}
}

// startGateway runs `portcullis serve` on free loopback ports with a data folder of its
// own, and waits until it is ready. Extra arguments come last.
func startGateway(t testing.TB, args ...string) *gatewayProcess {
	t.Helper()
	return startGatewayIn(t, t.TempDir(), args...)
}

// startGatewayIn is startGateway on a data folder that is there.
func startGatewayIn(t testing.TB, dataDir string, args ...string) *gatewayProcess {
	t.Helper()
	args = slices.Concat(storeArgs(t, dataDir, args), areasBeside(t, dataDir, args), args)
	switch {
	case onReplicas(): // with the lease that is the default
		return launchReplicas(t, dataDir, args...)
	case onMongoDB():
		args = append([]string{"--freshness-lease", "0"}, args...)
	}
	return launch(t, dataDir, args...)
}

// launch runs one `portcullis serve` and waits until it is ready.
func launch(t testing.TB, dataDir string, args ...string) *gatewayProcess {
	t.Helper()
	g := begin(t, dataDir, &syncBuffer{}, &syncBuffer{}, args...)
	g.await(t, args...)
	return g
}

// begin starts a `portcullis serve`.
func begin(t testing.TB, dataDir string, stdout, stderr *syncBuffer, args ...string) *gatewayProcess {
	t.Helper()
	g := &gatewayProcess{
		DataDir: dataDir, stdout: stdout, stderr: stderr, ready: make(chan map[string]string, 1), done: make(chan struct{}),
	}
	// At debug level, so that what no log may show is not there even then: see secrets.
	g.cmd = exec.Command(binary, ephemeral(dataDir, append([]string{"--log-level", "debug"}, args...)...)...)
	theSecrets.watch(stdout, stderr)
	pipe, err := g.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	g.cmd.Stdout = g.stdout
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go g.read(pipe)
	t.Cleanup(func() { g.kill(t) })
	return g
}

// await waits until it is ready.
func (g *gatewayProcess) await(t testing.TB, args ...string) {
	t.Helper()
	select {
	case where := <-g.ready:
		g.HealthURL = address(where["health_listen"])
		if g.URL = address(where["listen"]); where["users_listen"] != "" { // else a process behind gateways
			g.URL, g.UsersURL = edgeFirst(g.URL, address(where["users_listen"]))
		}
		g.listening(args...)
		theSecrets.settings(g.DataDir, args)
	case <-g.done:
		t.Fatalf("serve ended before it was ready: %v\n%s", g.cmd.ProcessState, g.stderr)
	case <-time.After(60 * time.Second):
		t.Fatalf("serve is not ready after a minute\n%s", g.stderr)
	}
}

// read keeps the log and tells of the line that says ready.
func (g *gatewayProcess) read(pipe io.Reader) {
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		_, _ = g.stderr.Write(append(lines.Bytes(), '\n'))
		if where := readyLine(lines.Bytes()); where != nil {
			select {
			case g.ready <- where:
			default:
			}
		}
	}
	_ = g.cmd.Wait() // how it ended is in its state
	close(g.done)
}

// saysReady and saysWhere find the line of the log that says ready, in both of its formats.
var (
	saysReady = regexp.MustCompile(`^(\{.*"msg":"ready"|time=\S+ level=INFO msg=ready )`)
	saysWhere = regexp.MustCompile(`\b(\w*listen)"?[:=]"?([^\s",]+)`)
)

// readyLine gives the addresses in a line that says ready, by the names of the settings.
func readyLine(line []byte) map[string]string {
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

func address(hostPort string) string { return "http://" + hostPort }

// each are its processes.
func (g *gatewayProcess) each() []*gatewayProcess {
	if g.replicas == nil {
		return []*gatewayProcess{g}
	}
	return g.replicas
}

// kill ends it at once, with SIGKILL: all of its processes.
func (g *gatewayProcess) kill(t testing.TB) {
	t.Helper()
	g.signal(t, os.Kill)
	for _, p := range g.each() {
		<-p.done
	}
}

// terminate sends SIGTERM to all of its processes.
func (g *gatewayProcess) terminate(t testing.TB) {
	t.Helper()
	g.signal(t, syscall.SIGTERM)
}

func (g *gatewayProcess) signal(t testing.TB, s os.Signal) {
	t.Helper()
	for _, p := range g.each() {
		if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	}
}

// ended waits for the end of all of its processes, and gives the exit code: the highest.
func (g *gatewayProcess) ended(t testing.TB) int {
	t.Helper()
	limit, code := time.After(30*time.Second), 0
	for _, p := range g.each() {
		select {
		case <-p.done:
			code = max(code, p.cmd.ProcessState.ExitCode())
		case <-limit:
			t.Fatalf("serve does not end\n%s", p.stderr)
		}
	}
	return code
}

// syncBuffer is a buffer that one goroutine writes and another reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	// all, where there is one, is given everything too.
	all *syncBuffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	if b.all != nil {
		_, _ = b.all.Write(p) // never fails
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

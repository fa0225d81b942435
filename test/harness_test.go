package test_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// binary is the program under test, built once for the whole run.
var binary string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	if edge := os.Getenv("PORTCULLIS_TEST_EDGE"); edge != "" && edge != "users" {
		fmt.Fprintf(os.Stderr, "PORTCULLIS_TEST_EDGE is %q: it may be \"users\" or be left out\n", edge)
		return 2
	}
	dir, err := os.MkdirTemp("", "portcullis-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "portcullis")
	args := []string{"build", "-o", binary}
	if raceEnabled && os.Getenv("PORTCULLIS_TEST_RACE") != "" {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "../cmd/portcullis")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program under test: %v\n%s", err, out)
		return 2
	}
	defer servers.Stop()
	defer stopShared()
	code := m.Run()
	for _, text := range listeners.untold {
		fmt.Fprintln(os.Stderr, text)
		code = max(code, 1)
	}
	return code
}

// gatewayProcess is a `portcullis serve` that a test has started.
type gatewayProcess struct {
	// URL is the edge, UsersURL the same edge on the users' listener, HealthURL the private
	// one. See edgeFirst for which of the first two is which.
	URL, UsersURL, HealthURL string
	DataDir                  string

	cmd    *exec.Cmd
	stdout *syncBuffer
	stderr *syncBuffer
	done   chan struct{}
	waited error
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
	return launch(t, dataDir, slices.Concat(storeArgs(t, dataDir, args), areasBeside(t, dataDir, args), args)...)
}

// launch runs `portcullis serve` and waits until it is ready.
func launch(t testing.TB, dataDir string, args ...string) *gatewayProcess {
	t.Helper()
	g := &gatewayProcess{DataDir: dataDir, stdout: &syncBuffer{}, stderr: &syncBuffer{}, done: make(chan struct{})}
	g.cmd = exec.Command(binary, append([]string{
		"serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0",
	}, args...)...)
	ready := make(chan map[string]any, 1)
	pipe, err := g.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	g.cmd.Stdout = g.stdout
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go g.read(pipe, ready)
	t.Cleanup(func() {
		_ = g.cmd.Process.Kill()
		<-g.done
	})
	select {
	case line := <-ready:
		g.HealthURL = address(line["health_listen"])
		if g.URL = address(line["listen"]); line["users_listen"] != nil { // else a process behind gateways
			g.URL, g.UsersURL = edgeFirst(g.URL, address(line["users_listen"]))
		}
		g.listening(args...)
	case <-g.done:
		t.Fatalf("serve ended before it was ready: %v\n%s", g.waited, g.stderr)
	case <-time.After(60 * time.Second):
		t.Fatalf("serve is not ready after a minute\n%s", g.stderr)
	}
	return g
}

// read keeps the log and tells of the line that says ready.
func (g *gatewayProcess) read(pipe io.Reader, ready chan<- map[string]any) {
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		_, _ = g.stderr.Write(append(lines.Bytes(), '\n'))
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == "ready" {
			select {
			case ready <- line:
			default:
			}
		}
	}
	g.waited = g.cmd.Wait()
	close(g.done)
}

// edgeFirst gives the listener that the tests speak to, and then the other one. Both are
// the same edge, and PORTCULLIS_TEST_EDGE=users has every test speak to the users' one.
func edgeFirst(edge, users string) (url, other string) {
	if os.Getenv("PORTCULLIS_TEST_EDGE") == "users" {
		return users, edge
	}
	return edge, users
}

func address(v any) string { return fmt.Sprintf("http://%v", v) }

// token is `portcullis token` on the gateway's data folder.
func (g *gatewayProcess) token(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(binary, append([]string{"token", "--data-dir", g.DataDir}, args...)...).Output()
	if err != nil {
		t.Fatalf("portcullis token %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// userToken and serviceToken are tokens of the gateway's own issuer.
func (g *gatewayProcess) userToken(t testing.TB, user string) string {
	t.Helper()
	return g.token(t, "--user", user)
}

func (g *gatewayProcess) serviceToken(t testing.TB, scopes ...string) string {
	t.Helper()
	return g.token(t, "--service", "test", "--scope", strings.Join(scopes, " "))
}

// reply is an answer, read to its end.
type reply struct {
	Status int
	Header http.Header
	Raw    []byte
	// Body is the JSON object of the answer, nil where it is none.
	Body map[string]any
	// Last says that the server ends the connection with this answer.
	Last bool
}

// call makes one request. body is JSON text, or "" for none; headers are name, value pairs.
//
// On a busy machine a decision may take more than its 50 ms: that is a 503 of which
// nothing was done, and is asked again.
func call(t testing.TB, method, url, token, body string, headers ...string) reply {
	t.Helper()
	for try := 1; ; try++ {
		x, err := exchanged(method, url, token, body, headers...)
		if err != nil {
			t.Fatalf("%s %s: %v", method, url, err)
		}
		for _, text := range x.against() {
			t.Error(text)
		}
		r := x.answer
		if !r.undecided() || try == 20 {
			return r
		}
	}
}

func (r reply) undecided() bool {
	return r.Status == 503 && (bytes.Contains(r.Raw, []byte("authorization state unavailable")) || bytes.Contains(r.Raw, []byte("decision could not be made")))
}

// tryCall is call for a server that may be gone.
func tryCall(method, url, token, body string, headers ...string) (reply, error) {
	x, err := exchanged(method, url, token, body, headers...)
	if err != nil {
		return reply{}, err
	}
	if found := x.against(); len(found) > 0 {
		listeners.Lock()
		defer listeners.Unlock()
		listeners.untold = append(listeners.untold, found...)
	}
	return x.answer, nil
}

func exchanged(method, url, token, body string, headers ...string) (exchange, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return exchange{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header[http.CanonicalHeaderKey(headers[i])] = append(req.Header.Values(headers[i]), headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return exchange{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{Status: resp.StatusCode, Header: resp.Header, Last: resp.Close}
	if r.Raw, err = io.ReadAll(resp.Body); err != nil {
		return exchange{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(r.Raw))
	dec.UseNumber()
	_ = dec.Decode(&r.Body)
	return exchange{method: method, url: url, header: req.Header, body: []byte(body), answer: r}, nil
}

// syncBuffer is a buffer that one goroutine writes and another reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

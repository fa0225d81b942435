package load_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// The servers run on one core, the client on the other.
const (
	serverCore = "0"
	clientCore = "1"
)

// readyTime bounds the start of a server.
const readyTime = 2 * time.Minute

// process is a server under load.
type process struct {
	pid     int
	address string
	// health is a gateway's private listener.
	health string
	// ready is the time from its start until it listens.
	ready time.Duration
	log   string
}

// launch starts a server on its core. Its log goes to a file, as an operator's would.
func launch(b *testing.B, env []string, command ...string) (*process, <-chan struct{}) {
	b.Helper()
	p := &process{log: filepath.Join(b.TempDir(), "log")}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("taskset", append([]string{"-c", serverCore}, command...)...)
	cmd.Env = slices.Concat(os.Environ(), []string{"GOMAXPROCS=1"}, env)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_ = log.Close()
	p.pid = cmd.Process.Pid // taskset becomes the server
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	b.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return p, ended
}

// await calls listens every 5 ms until it returns the server's address.
func (p *process) await(b *testing.B, ended <-chan struct{}, listens func() string) (*process, error) {
	b.Helper()
	began := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for time.Since(began) < readyTime {
		if p.address = listens(); p.address != "" {
			p.ready = time.Since(began)
			return p, nil
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("it ended before it was ready: %.300s", p.text(b))
		case <-tick.C:
		}
	}
	return nil, fmt.Errorf("it is not ready after %s: %.300s", readyTime, p.text(b))
}

var (
	saysReady  = regexp.MustCompile(`\{.*"msg":"ready".*"listen":"([^"]+)".*`)
	saysHealth = regexp.MustCompile(`"health_listen":"([^"]+)"`)
)

func (p *process) text(b *testing.B) string {
	b.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// listens reads the address in the log.
func (p *process) listens(b *testing.B) func() string {
	return func() string {
		if m := saysReady.FindStringSubmatch(p.text(b)); m != nil {
			if h := saysHealth.FindStringSubmatch(m[0]); h != nil {
				p.health = h[1]
			}
			return m[1]
		}
		return ""
	}
}

// startPeer starts the test's own program as a peer.
func startPeer(b *testing.B, settings peer) (*process, error) {
	b.Helper()
	p, ended := launch(b, []string{envPeer + "=" + string(rendered(settings))}, os.Args[0])
	return p.await(b, ended, p.listens(b))
}

// startGateway starts the program with its defaults: access log and metrics are on. A long idle timeout keeps the
// connections open while the run measures other servers.
func startGateway(b *testing.B, program string, w *world, args ...string) (*process, error) {
	b.Helper()
	p, ended := launch(b, nil, slices.Concat([]string{
		program, "serve", "--data-dir", w.dir, "--policy-dir", w.tree,
		"--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0",
		"--idle-timeout", "24h", "--decision-log", "off", // its cost has a benchmark of its own
	}, args)...)
	return p.await(b, ended, p.listens(b))
}

// startOPA starts the stock OPA server with the policy tree.
func startOPA(b *testing.B, program, tree string) (*process, error) {
	b.Helper()
	address := servers.Address(b)
	p, ended := launch(b, nil, program, "run", "--server", "--addr", address, "--log-level", "error", "--skip-version-check",
		"--ignore", "*_test.rego", "--ignore", "schemas", tree)
	return p.await(b, ended, func() string {
		answer, err := http.Get("http://" + address + "/health")
		if err != nil {
			return ""
		}
		_ = answer.Body.Close()
		return address
	})
}

// cpu returns the CPU time of all threads of a process since its start, in the kernel and outside. /proc/PID/stat has
// it in steps of 10 ms only.
func (p *process) cpu() (time.Duration, error) {
	pattern := fmt.Sprintf("/proc/%d/task/*/schedstat", p.pid)
	tasks, _ := filepath.Glob(pattern) // the pattern is well formed
	if len(tasks) == 0 {
		return 0, fmt.Errorf("there is no %s", pattern)
	}
	var sum int64
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum), nil
}

package consistency_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// replica is one gateway. It keeps its addresses over restarts.
type replica struct {
	n      int
	binary string
	args   []string
	// url and private are the edge and the private listener.
	url, private string

	mu     sync.Mutex
	cmd    *exec.Cmd
	done   chan struct{}
	errors []string
	// broken has lines of panics and of answers with 500.
	broken []string
}

// start starts the gateway and waits until it is ready.
func (r *replica) start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(r.binary, append([]string{
		"serve", "--listen", strings.TrimPrefix(r.url, "http://"), "--health-listen", strings.TrimPrefix(r.private, "http://"), "--users-listen", "127.0.0.1:0",
	}, r.args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	pipe := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	done, ready := make(chan struct{}), make(chan struct{})
	r.mu.Lock()
	r.cmd, r.done = cmd, done
	r.mu.Unlock()
	go func() {
		r.read(pipe, ready)
		_ = cmd.Wait() // the tests kill it
		close(done)
	}()
	select {
	case <-ready:
	case <-done:
		t.Fatalf("replica %d ended before it was ready:\n%s", r.n, r.said())
	case <-time.After(time.Minute):
		t.Fatalf("replica %d is not ready after a minute:\n%s", r.n, r.said())
	}
}

// saysBroken matches a panic, also a recovered one, and an answer with 500.
var saysBroken = regexp.MustCompile(`(?i)\bpanic|^fatal error:|"status":500\b`)

// read closes ready at the line ready, and keeps the last errors.
func (r *replica) read(pipe io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	begun := false
	for lines.Scan() {
		var line map[string]any
		if !begun && json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == "ready" {
			begun = true
			close(ready)
			continue
		}
		if saysBroken.Match(lines.Bytes()) {
			r.mu.Lock()
			r.broken = append(r.broken, lines.Text())
			r.mu.Unlock()
		}
		if begun && !bytes.Contains(lines.Bytes(), []byte(`"level":"ERROR"`)) {
			continue // a request
		}
		r.mu.Lock()
		if r.errors = append(r.errors, lines.Text()); len(r.errors) > 20 {
			r.errors = r.errors[1:]
		}
		r.mu.Unlock()
	}
}

// said returns the lines before it was ready and the last errors, at most 20.
func (r *replica) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.errors, "\n")
}

// signal sends a signal to the process, if it runs.
func (r *replica) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	r.mu.Lock()
	cmd := r.cmd
	r.mu.Unlock()
	if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
}

// terminate sends SIGTERM and returns the exit code and the time until the end.
func (r *replica) terminate(t testing.TB) (code int, took time.Duration) {
	t.Helper()
	r.mu.Lock()
	cmd, done := r.cmd, r.done
	r.mu.Unlock()
	began := time.Now()
	r.signal(t, syscall.SIGTERM)
	<-done
	return cmd.ProcessState.ExitCode(), time.Since(began)
}

// kill ends the process at once, also while it is paused.
func (r *replica) kill() {
	r.mu.Lock()
	cmd, done := r.cmd, r.done
	r.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
		<-done
	}
}

package attacks_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// program is a `portcullis serve` under attack, at debug level.
type program struct {
	URL, UsersURL, HealthURL string

	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{}
}

// lockedBuffer is written by one goroutine and read by another.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

var (
	saysReady = regexp.MustCompile(`"msg":"ready"|msg=ready`) // in both formats of the log
	saysWhere = regexp.MustCompile(`\b(\w*listen)"?[:=]"?([^\s",]+)`)
)

// start runs the program on free ports and waits until it listens.
func start(t testing.TB, binary string, args ...string) *program {
	t.Helper()
	p := &program{log: &lockedBuffer{}, done: make(chan struct{})}
	all := append([]string{
		"serve", "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0",
		"--log-level", "debug", "--read-timeout", "2s",
	}, args...)
	p.cmd = exec.CommandContext(context.Background(), binary, all...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	must.Do(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.done) }() // how it ended is in its log
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); p.URL == ""; {
		select {
		case <-p.done:
			t.Fatalf("it ended before it was ready\n%s", p.log)
		case <-limit:
			t.Fatalf("it is not ready after a minute\n%s", p.log)
		case <-tick.C:
			p.where()
		}
	}
	return p
}

// where reads the addresses from the ready line.
func (p *program) where() {
	for line := range strings.Lines(p.log.String()) {
		if !saysReady.MatchString(line) || !strings.HasSuffix(line, "\n") {
			continue
		}
		addresses := map[string]string{}
		for _, m := range saysWhere.FindAllStringSubmatch(line, -1) {
			addresses[m[1]] = "http://" + m[2]
		}
		p.HealthURL, p.UsersURL, p.URL = addresses["health_listen"], addresses["users_listen"], addresses["listen"]
	}
}

// stop ends it as an operator does, and gives all that it wrote.
func (p *program) stop() string {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	<-p.done
	return p.log.String()
}

// metrics is the text of /metrics.
func (p *program) metrics() string {
	resp, err := http.Get(p.HealthURL + "/metrics")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	raw, _ := io.ReadAll(resp.Body) // a later look finds the missing bytes
	return string(raw)
}

var evaluated = regexp.MustCompile(`(?m)^portcullis_policy_(?:evaluation_duration_seconds_count|cache_hits_total)\{[^}]*\} (\S+)$`)

// evaluations is how often policy was asked, whether it had to think or not.
func (p *program) evaluations() int {
	sum := 0
	for _, m := range evaluated.FindAllStringSubmatch(p.metrics(), -1) {
		n, _ := strconv.ParseFloat(m[1], 64) // a number by its format
		sum += int(n)
	}
	return sum
}

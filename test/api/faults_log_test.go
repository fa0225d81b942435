package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const metricDropped = "portcullis_log_lines_dropped_total"

// logStuck: with a reader of the log that does not read, every request is answered and the
// process ends when it is told to; each line is read in the end or was counted.
func logStuck(t *testing.T) {
	t.Parallel()
	g := startGateway(t).each()[0]
	read := g.holdLog()
	defer read()
	sent := fillLog(t, g)
	dropped := metricOf(t, g, metricDropped)
	read()
	var told float64
	eventually(t, 30*time.Second, "each line is read or told to be missing", func() bool {
		told = 0
		for line := range strings.Lines(g.stderr.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("a torn line: %v %.200q", err, line)
			}
			if text, _ := m["msg"].(string); strings.HasPrefix(text, "lines of the log were dropped") {
				told += m["lines"].(float64)
			}
		}
		return told > 0 && len(g.requestLines(""))+int(told) == sent
	})
	if told != dropped {
		t.Errorf("%v lines are missing by the log, %v by the metric", told, dropped)
	}
	read = g.holdLog()
	defer read()
	fillLog(t, g)
	g.terminate(t)
	ended := make(chan error, 1)
	go func() { ended <- unix.Waitid(unix.P_PID, g.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a stuck log keeps the process from its end")
	}
	read()
	if code := g.ended(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// holdLog has nobody read the log until the function is called that it gives.
func (g *gatewayProcess) holdLog() (read func()) {
	g.stderr.mu.Lock() // who reads waits for it
	return sync.OnceFunc(g.stderr.mu.Unlock)
}

// fillLog makes requests with long lines until some are dropped, and then some more.
func fillLog(t *testing.T, g *gatewayProcess) (sent int) {
	t.Helper()
	dropped, long := metricOf(t, g, metricDropped), "/"+strings.Repeat("x", 16<<10)
	client := http.Client{Timeout: 10 * time.Second}
	for more := 20; more > 0; more-- {
		for range 50 {
			resp, err := client.Get(g.URL + long)
			if err != nil {
				t.Fatalf("request %d is not answered: %.100s", sent, err.Error()[max(0, len(err.Error())-100):])
			}
			_ = resp.Body.Close()
			if sent++; resp.StatusCode != 404 {
				t.Fatalf("request %d: %d", sent, resp.StatusCode)
			}
		}
		if now := metricOf(t, g, metricDropped); now > dropped {
			more = min(more, 2)
		}
	}
	if metricOf(t, g, metricDropped) == dropped {
		t.Fatal("no line was dropped: the row proves nothing")
	}
	return sent
}

// logGone: the reader of the log ends before the gateway.
func logGone(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	g := &gatewayProcess{DataDir: t.TempDir(), stdout: &syncBuffer{}, stderr: &syncBuffer{}, ready: make(chan map[string]string, 1), done: make(chan struct{})}
	g.cmd = exec.Command(binary, ephemeral(g.DataDir)...)
	g.cmd.Stdout, g.cmd.Stderr = g.stdout, w
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	go func() {
		_ = g.cmd.Wait() // how it ended is in its state
		close(g.done)
	}()
	t.Cleanup(func() { g.kill(t) })
	for lines := bufio.NewScanner(r); len(g.ready) == 0; {
		if !lines.Scan() {
			t.Fatalf("the log ended: %v", lines.Err())
		}
		if where := readyLine(lines.Bytes()); where != nil {
			g.ready <- where
		}
	}
	g.await(t)
	_ = r.Close()
	for i := range 100 {
		if r := call(t, "GET", g.URL+fmt.Sprintf("/gone/%d", i), "", ""); r.Status != 404 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	}
	eventually(t, 10*time.Second, "the lines are counted", func() bool { return metricOf(t, g, metricDropped) == 100 })
	g.terminate(t)
	if code := g.ended(t); code != 0 {
		t.Errorf("exit %d, %v", code, g.cmd.ProcessState)
	}
}

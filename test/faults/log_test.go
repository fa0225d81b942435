package faults_test

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

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

const metricDropped = "portcullis_log_lines_dropped_total"

// logStuck has a reader of the log stop reading. Every request is answered, and the process ends on
// its signal. Each line is read in the end or was counted.
func logStuck(t *testing.T) {
	t.Parallel()
	g := harness.Start(t).Each()[0]
	read := holdLog(g)
	defer read()
	sent := fillLog(t, g)
	dropped := harness.MetricOf(t, g, metricDropped)
	read()
	var count float64
	harness.SoonWithin(t, 30*time.Second, "each line is read or told to be missing", func() bool {
		count = 0
		for line := range strings.Lines(g.Stderr.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("a torn line: %v %.200q", err, line)
			}
			if text, _ := m["msg"].(string); strings.HasPrefix(text, "lines of the log were dropped") {
				count += m["lines"].(float64)
			}
		}
		return count > 0 && len(g.RequestLines(""))+int(count) == sent
	})
	if count != dropped {
		t.Errorf("%v lines are missing by the log, %v by the metric", count, dropped)
	}
	read = holdLog(g)
	defer read()
	fillLog(t, g)
	g.Terminate(t)
	ended := make(chan error, 1)
	go func() { ended <- unix.Waitid(unix.P_PID, g.Cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a stuck log keeps the process from its end")
	}
	read()
	if code := g.Ended(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// holdLog has nobody read the log until the function is called that it gives.
func holdLog(g *harness.Gateway) (read func()) {
	g.Stderr.Mu.Lock() // who reads waits for it
	return sync.OnceFunc(g.Stderr.Mu.Unlock)
}

// fillLog makes requests with long lines until some are dropped, and then some more.
func fillLog(t *testing.T, g *harness.Gateway) (sent int) {
	t.Helper()
	dropped, long := harness.MetricOf(t, g, metricDropped), "/"+strings.Repeat("x", 16<<10)
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
		if now := harness.MetricOf(t, g, metricDropped); now > dropped {
			more = min(more, 2)
		}
	}
	if harness.MetricOf(t, g, metricDropped) == dropped {
		t.Fatal("no line was dropped: the row proves nothing")
	}
	return sent
}

// logGone: the reader of the log ends before the gateway.
func logGone(t *testing.T) {
	t.Parallel()
	r, w := must.Two(os.Pipe())(t)
	g := &harness.Gateway{DataDir: t.TempDir(), Stdout: &harness.Buffer{}, Stderr: &harness.Buffer{}, Ready: make(chan map[string]string, 1), Done: make(chan struct{})}
	g.Cmd = exec.Command(harness.Binary, harness.Ephemeral(g.DataDir)...)
	g.Cmd.Stdout, g.Cmd.Stderr = g.Stdout, w
	must.Do(t, g.Cmd.Start())
	_ = w.Close()
	go func() {
		_ = g.Cmd.Wait() // how it ended is in its state
		close(g.Done)
	}()
	t.Cleanup(func() { g.Kill(t) })
	for lines := bufio.NewScanner(r); len(g.Ready) == 0; {
		if !lines.Scan() {
			t.Fatalf("the log ended: %v", lines.Err())
		}
		if where := harness.ReadyLine(lines.Bytes()); where != nil {
			g.Ready <- where
		}
	}
	g.Await(t)
	_ = r.Close()
	for i := range 100 {
		if r := harness.Call(t, "GET", g.URL+fmt.Sprintf("/gone/%d", i), "", ""); r.Status != 404 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	}
	harness.SoonWithin(t, 10*time.Second, "the lines are counted", func() bool { return harness.MetricOf(t, g, metricDropped) == 100 })
	g.Terminate(t)
	if code := g.Ended(t); code != 0 {
		t.Errorf("exit %d, %v", code, g.Cmd.ProcessState)
	}
}

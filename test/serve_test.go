package test_test

import (
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// terminate sends SIGTERM; ended waits for the end and gives the exit code.
func (g *gatewayProcess) terminate(t testing.TB) {
	t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func (g *gatewayProcess) ended(t testing.TB) int {
	t.Helper()
	select {
	case <-g.done:
		return g.cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		t.Fatalf("serve does not end\n%s", g.stderr)
		return -1
	}
}

// TestServeSaysReadyOnce, when every listener answers, and says where.
func TestServeSaysReadyOnce(t *testing.T) {
	t.Parallel()
	g := sharedGateway(t)
	for _, url := range []string{g.URL + "/.well-known/jwks.json", g.UsersURL + "/.well-known/jwks.json", g.HealthURL + "/healthz/ready"} {
		if r := call(t, "GET", url, "", ""); r.Status != 200 {
			t.Errorf("%s: %d %s", url, r.Status, r.Raw)
		}
	}
	if n := strings.Count(g.stderr.String(), `"msg":"ready"`); n != 1 || g.stdout.String() != "" {
		t.Errorf("ready %d times; stdout %q", n, g.stdout)
	}
}

// TestSIGTERMEndsAnIdleGatewayAtOnce, with a kept-alive connection open, and the data
// folder can be opened again.
func TestSIGTERMEndsAnIdleGatewayAtOnce(t *testing.T) {
	t.Parallel()
	s := startTeam(t)
	s.must(t, 200, "GET", "/roles", "")
	started := time.Now()
	s.terminate(t)
	if code := s.ended(t); code != 0 || time.Since(started) > 5*time.Second {
		t.Errorf("exit %d after %s\n%s", code, time.Since(started), s.stderr)
	}
	g := startGatewayIn(t, s.DataDir)
	if r := call(t, "GET", g.URL+"/api/v1/accounts/"+s.Account+"/roles", s.AdminToken, ""); r.Status != 200 {
		t.Errorf("after the restart, with a token of before: %d %s", r.Status, r.Raw)
	}
}

// startTextGateway starts serve with --log-format text, whose addresses are read from its
// ready line.
func startTextGateway(t testing.TB) *gatewayProcess {
	t.Helper()
	g := &gatewayProcess{DataDir: t.TempDir(), stdout: &syncBuffer{}, stderr: &syncBuffer{}, done: make(chan struct{})}
	g.cmd = exec.Command(binary, ephemeral(g.DataDir, "--log-format", "text", "--log-level", "debug")...)
	g.cmd.Stdout, g.cmd.Stderr = g.stdout, g.stderr
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { g.waited = g.cmd.Wait(); close(g.done) }()
	t.Cleanup(func() { _ = g.cmd.Process.Kill(); <-g.done })
	listen := regexp.MustCompile(`msg=ready listen=(\S+) users_listen=(\S+) `)
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		if m := listen.FindStringSubmatch(g.stderr.String()); m != nil {
			tick.Stop()
			g.URL, g.UsersURL = edgeFirst("http://"+m[1], "http://"+m[2])
			g.listening()
			return g
		}
		if time.Now().After(deadline) {
			t.Fatalf("serve is not ready\n%s", g.stderr)
		}
	}
}

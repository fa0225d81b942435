package test_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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

// slowUpstream answers each request when it is released, and tells of each that came.
func slowUpstream(t testing.TB) (url string, came chan struct{}, release chan struct{}) {
	t.Helper()
	came, release = make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"late":true}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, came, release
}

// TestSIGTERMAnswersWhatIsUnderWay: the request is answered, new ones find no listener,
// readiness says not_ready meanwhile, idle connections hold nothing up, exit 0.
func TestSIGTERMAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed(t, dir, "acct-slow-v1", "proj-slow-v1", member{"user-slow-v1", []string{"account_admin"}})
	url, came, release := slowUpstream(t)
	g := startGatewayIn(t, dir, "--upstream", "access="+url)
	call(t, "GET", g.UsersURL+"/", "", "") // leaves a kept-alive connection behind
	token := g.userToken(t, "user-slow-v1")
	answer := make(chan reply, 1)
	go func() {
		r, _ := tryCall("GET", g.URL+"/api/v1/accounts/acct-slow-v1/roles", token, "")
		answer <- r
	}()
	<-came
	g.terminate(t)
	eventually(t, 10*time.Second, "readiness says not_ready", func() bool {
		r, err := tryCall("GET", g.HealthURL+"/healthz/ready", "", "")
		return err == nil && r.Status == 503 && r.Body["status"] == "not_ready"
	})
	if r, err := tryCall("GET", g.HealthURL+"/healthz/live", "", ""); err != nil || r.Status != 200 {
		t.Errorf("a draining gateway is not live: %v %d", err, r.Status)
	}
	eventually(t, 10*time.Second, "nobody listens any more", func() bool {
		for _, url := range []string{g.URL, g.UsersURL} {
			if c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
				_ = c.Close()
				return false
			}
		}
		return true
	})
	released := time.Now()
	close(release)
	if r := <-answer; r.Status != 200 || r.Body["late"] != true {
		t.Errorf("the request under way: %d %s", r.Status, r.Raw)
	}
	if code, took := g.ended(t), time.Since(released); code != 0 || took > 5*time.Second {
		t.Errorf("exit %d after %s\n%s", code, took, g.stderr)
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

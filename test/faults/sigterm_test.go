package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// slowUpstream answers each request when it is released, and reports each arrival.
func slowUpstream(t testing.TB) (url string, came chan struct{}, release func()) {
	t.Helper()
	came, held := make(chan struct{}, 8), make(chan struct{})
	release = sync.OnceFunc(func() { close(held) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-held
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"late":true}`)
	}))
	t.Cleanup(func() { release(); server.Close() })
	return server.URL, came, release
}

// slowGateway is a gateway with an upstream that answers when it is released, and as many
// requests under way there; their answers come.
func slowGateway(t *testing.T, requests int) (g *harness.Gateway, release func(), answers chan harness.Reply) {
	t.Helper()
	dir := t.TempDir()
	harness.Seed(t, dir, "acct-slow-v1", "proj-slow-v1", harness.Member{ID: "user-slow-v1", Roles: []string{"account_admin"}})
	url, came, release := slowUpstream(t)
	g = harness.StartIn(t, dir, "--policy-dir", harness.PoliciesWithWidgets(t), "--upstream", "widgets="+url).Each()[0] // of replicas, one: the others go on
	token := g.UserToken(t, "user-slow-v1")
	answers = make(chan harness.Reply, requests)
	for range requests {
		go func() {
			r, _ := harness.TryCall("GET", g.URL+"/api/v1/accounts/acct-slow-v1/projects/proj-slow-v1/widgets", token, "")
			answers <- r
		}()
		<-came
	}
	return g, release, answers
}

// sigtermUnderLoad guarantees an answer to requests at an upstream, and to each accepted one. New
// ones find no listener, readiness says not_ready meanwhile, idle connections hold nothing up, exit
// 0.
func sigtermUnderLoad(t *testing.T) {
	t.Parallel()
	g, release, answers := slowGateway(t, 4)
	harness.Call(t, "GET", g.UsersURL+"/", "", "") // leaves a kept-alive connection behind
	b := startBurst(t, g, 8)
	harness.SoonWithin(t, 30*time.Second, "the burst is answered", func() bool { return b.count.Load() > 400 })
	g.Terminate(t)
	terminated := time.Now()
	harness.SoonWithin(t, 10*time.Second, "readiness says not_ready", func() bool {
		r, err := harness.TryCall("GET", g.HealthURL+"/healthz/ready", "", "")
		return err == nil && r.Status == 503 && r.Body["status"] == "not_ready"
	})
	if r, err := harness.TryCall("GET", g.HealthURL+"/healthz/live", "", ""); err != nil || r.Status != 200 {
		t.Errorf("a draining gateway is not live: %v %d", err, r.Status)
	}
	harness.SoonWithin(t, 10*time.Second, "nobody listens any more", func() bool {
		for _, url := range []string{g.URL, g.UsersURL} {
			if c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
				_ = c.Close()
				return false
			}
		}
		return true
	})
	release()
	for range cap(answers) {
		if r := <-answers; r.Status != 200 || r.Body["late"] != true || !r.Last {
			t.Errorf("a request under way: %d %s, the last of its connection: %v", r.Status, r.Raw, r.Last)
		}
	}
	if code, took := g.Ended(t), time.Since(terminated); code != 0 || took > 10*time.Second {
		t.Errorf("exit %d after %s\n%s", code, took, g.Stderr)
	}
	b.judge(t, g)
}

// sigtermWithoutAnEnd: a request that never ends is given 10 seconds, and the process as many
// more on a busy machine.
func sigtermWithoutAnEnd(t *testing.T) {
	t.Parallel()
	g, _, _ := slowGateway(t, 1)
	g.Terminate(t)
	started := time.Now()
	if code, took := g.Ended(t), time.Since(started); code != 0 || took > 20*time.Second {
		t.Errorf("exit %d after %s\n%s", code, took, g.Stderr)
	}
}

// burst are clients that each ask again and again on one connection.
type burst struct {
	wait     sync.WaitGroup
	count    atomic.Int64
	answered sync.Map // request ids
}

func startBurst(t *testing.T, g *harness.Gateway, clients int) *burst {
	t.Helper()
	b, token := &burst{}, g.ServiceToken(t, "authz:check")
	for n := range clients {
		b.wait.Go(func() {
			for number := 0; ; {
				c, err := net.Dial("tcp", strings.TrimPrefix(g.URL, "http://"))
				if err != nil {
					return // nobody listens any more
				}
				r, last := bufio.NewReader(c), false
				for err == nil && !last {
					number++
					last, err = b.ask(t, c, r, token, fmt.Sprintf("burst-%d-%d", n, number))
				}
				_ = c.Close()
			}
		})
	}
	return b
}

// ask is one question; last says that the gateway ends the connection with its answer.
func (b *burst) ask(t *testing.T, c net.Conn, r *bufio.Reader, token, id string) (last bool, err error) {
	_, err = fmt.Fprintf(c, "POST /api/v1/authorize/x HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\nX-Request-ID: %s\r\n"+
		"X-User-ID: user-slow-v1\r\nX-Account-ID: acct-slow-v1\r\nX-Action: project:x:read\r\n\r\n", token, id)
	if err != nil {
		return false, err
	}
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.ReadAll(resp.Body); err != nil {
		return false, err
	}
	if resp.StatusCode != 200 && resp.StatusCode != 503 { // a decision may be over its time
		t.Errorf("%s: %d", id, resp.StatusCode)
	}
	b.answered.Store(id, true)
	b.count.Add(1)
	return resp.Close, nil
}

// judge finds an answer to each question that the gateway has logged.
func (b *burst) judge(t *testing.T, g *harness.Gateway) {
	t.Helper()
	b.wait.Wait()
	taken := 0
	for _, line := range g.RequestLines("") {
		id, _ := line["request_id"].(string)
		if !strings.HasPrefix(id, "burst-") {
			continue
		}
		taken++
		if _, ok := b.answered.Load(id); !ok {
			t.Errorf("%s was taken and not answered", id)
		}
	}
	t.Logf("%d questions were taken, %d answered", taken, b.count.Load())
	if taken == 0 {
		t.Error("nothing was asked")
	}
}

package faults_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// askers are clients that ask again and again on kept connections, and honour Connection: close.
type askers struct {
	wait                    sync.WaitGroup
	answered, closed, busy  atomic.Int64
	mu                      sync.Mutex
	failed                  []string
	stop                    chan struct{}
	token, url, user, place string
}

// startAskers starts clients of an address. Each goes on until more says no after an answer that ended
// its connection, or until stop is closed.
func startAskers(s *harness.Scene, url string, clients int, more func() bool) *askers {
	a := &askers{stop: make(chan struct{}), token: s.Checker, url: url, user: s.Admin, place: s.Account}
	for range clients {
		a.wait.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: 30 * time.Second}
			defer client.CloseIdleConnections()
			for {
				select {
				case <-a.stop:
					return
				default:
				}
				if last := a.ask(client); last && !more() {
					return
				}
			}
		})
	}
	return a
}

// ask is one question. last says that the answer ended its connection.
func (a *askers) ask(client *http.Client) (last bool) {
	r, err := http.NewRequest("POST", a.url+"/api/v1/authorize/accounts/"+a.place, http.NoBody)
	if err != nil {
		panic(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + a.token}, "X-User-Id": {a.user}, "X-Account-Id": {a.place}, "X-Action": {"account:role:read"}}
	resp, err := client.Do(r)
	if err != nil {
		a.fail(err.Error())
		return true
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		a.fail(err.Error())
	case resp.StatusCode == 503 && harness.SaysUndecided(body): // the machine is busy
		a.busy.Add(1)
	case resp.StatusCode != 200:
		a.fail(resp.Status + " " + string(body))
	default:
		a.answered.Add(1)
	}
	if resp.Close {
		a.closed.Add(1)
	}
	return resp.Close
}

func (a *askers) fail(how string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = append(a.failed, how)
}

// judge waits for the clients, and holds them to no failure.
func (a *askers) judge(t *testing.T) {
	t.Helper()
	a.wait.Wait()
	t.Logf("%d requests answered, %d of them as the last of their connection, %d undecided on a busy machine, %d failed",
		a.answered.Load(), a.closed.Load(), a.busy.Load(), len(a.failed))
	if len(a.failed) > 0 {
		t.Errorf("failed: %q", a.failed[:min(5, len(a.failed))])
	}
}

// TestShutdownDelayFailsNoRequest of 16 clients that honour Connection: close and ask only while the
// gateway is ready: readiness is 503 at once, each is answered until it goes, idle connections are held
// until the delay is over, and the last line of the log is the count.
func TestShutdownDelayFailsNoRequest(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--shutdown-delay", "3s").Each()[0])
	ready := func() bool {
		r, err := harness.TryCall("GET", s.HealthURL+"/healthz/ready", "", "")
		return err == nil && r.Status == 200
	}
	a := startAskers(s, s.URL, 16, ready)
	harness.Soon(t, "all ask", func() bool { return a.answered.Load() > 2000 })
	terminated := time.Now()
	s.Terminate(t)
	a.judge(t)
	if a.closed.Load() < 16 {
		t.Errorf("%d clients were told to go", a.closed.Load())
	}
	if time.Since(terminated) < 3*time.Second { // a late client is accepted and closed
		if r, err := harness.TryCall("GET", s.URL+"/.well-known/jwks.json", "", ""); err == nil && (r.Status != 200 || !r.Last) {
			t.Errorf("during the delay: %d, the last of its connection: %t", r.Status, r.Last)
		}
	}
	if code := s.Ended(t); code != 0 || time.Since(terminated) < 3*time.Second {
		t.Errorf("exit %d after %s", code, time.Since(terminated))
	}
	lines := strings.Split(strings.TrimSpace(s.Stderr.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"msg":"stopped","served":`) {
		t.Errorf("the last line is %s", last)
	}
}

// TestUnusedConnectionHoldsUpNoStop guarantees that a client without a request costs a stop about a second, without an
// answer, and without a warning of an unfinished request.
func TestUnusedConnectionHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, "--read-timeout", "5m", "--drain-timeout", "5m").Each()[0]
	client := must.Get(net.Dial("tcp", strings.TrimPrefix(g.URL, "http://")))(t)
	t.Cleanup(func() { _ = client.Close() })
	harness.Soon(t, "the connection is open", func() bool { return harness.MetricOf(t, g, "portcullis_connections") >= 1 })
	g.Terminate(t)
	if code := g.Ended(t); code != 0 || strings.Contains(g.Stderr.String(), "did not end in time") {
		t.Errorf("exit %d", code)
	}
	if sent, err := io.ReadAll(client); len(sent) > 0 || err != nil {
		t.Errorf("it is answered %q, %v", sent, err)
	}
}

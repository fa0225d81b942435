package api_test

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rolesAt is a question of the admin of an account, about their account.
func (s *scene) rolesAt(t *testing.T, g *gatewayProcess, token string) reply {
	t.Helper()
	return call(t, "GET", g.URL+"/api/v1/accounts/"+s.Account+"/roles", token, "")
}

// TestCallersAreHeldToTheirRate, in the shape of each area; another caller and what needs no
// credential are not.
func TestCallersAreHeldToTheirRate(t *testing.T) {
	t.Parallel()
	g := launch(t, t.TempDir(), "--rate-principal", "60/h,3", "--rate-service", "off", "--rate-account", "60/h,10")
	s := newScene(t, g)
	for left := 3; left > 0; {
		r := s.rolesAt(t, g, s.AdminToken)
		left -= r.Tries
		if got := r.Header.Get("RateLimit-Remaining"); r.Status != 200 || r.Header.Get("RateLimit-Limit") != "3" || got != strconv.Itoa(left) {
			t.Errorf("%d are left: %d, limit %q, remaining %q", left, r.Status, r.Header.Get("RateLimit-Limit"), got)
		}
	}
	for path, code := range map[string][]any{
		"/roles": {"error", "code", "RATE_LIMITED"}, "/users": {"error", "code", "RATE_001"},
		"/projects/" + s.Project + "/security-groups": {"code", "RATE_LIMITED"},
	} {
		r := call(t, "GET", s.path(path), s.AdminToken, "", "X-Account-ID", s.Account)
		after, err := strconv.Atoi(r.Header.Get("Retry-After"))
		if last := len(code) - 1; r.Status != 429 || err != nil || after < 1 || after > 60 || at(r.Body, code[:last]...) != code[last] {
			t.Errorf("%s: %d %s, come again after %q", path, r.Status, r.Raw, r.Header.Get("Retry-After"))
		}
	}
	for range 20 {
		if r := s.ask(t, s.Admin, "project:instance:read", "/projects/"+s.Project); r.Status != 200 || r.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("the service: %d %s %v", r.Status, r.Raw, r.Header)
		}
	}
	if r := call(t, "GET", g.URL+"/openapi.json", "", ""); r.Status != 200 {
		t.Errorf("the document: %d", r.Status)
	}
	if n := metricOf(t, g, `portcullis_rate_limited_total{limit="principal"}`); n != 3 {
		t.Errorf("%v are counted", n)
	}
}

// TestReplicasHoldACallerToOneRate together; without Redis each to the whole of it, with
// right answers and in time.
func TestReplicasHoldACallerToOneRate(t *testing.T) {
	t.Parallel()
	r := startReplicas(t, 2, "--rate-principal", "24/h", "--rate-service", "off")
	token, first := "", 0
	for n := range 3 { // on a busy machine Redis may not answer in time, which lets more pass
		token = r.newcomer(t, n)
		if first = r.passed(t, token, 80); first >= 24 && first <= 26 {
			break
		}
	}
	if first < 24 || first > 26 {
		t.Errorf("%d of 80 passed, want 24", first)
	}
	for name, spoil := range map[string]func() func(){
		"flushed": func() func() { r.redis.Client(t).FlushAll(t.Context()); return func() {} },
		"hangs":   func() func() { return r.redis.Pause(t) },
	} {
		undo := spoil()
		if first += r.passed(t, token, 40); first > 48 {
			t.Errorf("%s: %d passed in all, of two replicas at 24", name, first)
		}
		undo()
	}
	token = r.newcomer(t, 3)
	resume := r.redis.Pause(t)
	passed := r.passed(t, token, 80)
	resume()
	if passed != 48 {
		t.Errorf("without Redis %d passed, want 24 at each", passed)
	}
}

// newcomer is the token of a user who has asked for nothing yet, and may do nothing.
func (r *replicas) newcomer(t *testing.T, n int) string {
	t.Helper()
	user := fmt.Sprintf("user-newcomer%d-v1", n)
	r.addUser(t, user)
	return r.userToken(t, user)
}

// passed is how many of a newcomer's requests, to both replicas in turns, are held to no rate.
// Hardly any takes long: one that hangs with Redis would do so until Redis is left alone.
func (r *replicas) passed(t *testing.T, token string, requests int) (passed int) {
	t.Helper()
	slow := 0
	for i := range requests {
		began := time.Now()
		got := r.rolesAt(t, r.all[i%2], token)
		if time.Since(began) > 3*time.Second {
			slow++
		}
		switch passed += got.Tries; got.Status {
		case 403:
		case 429:
			passed--
		default:
			t.Errorf("%d %s", got.Status, got.Raw)
		}
	}
	if slow > 2 {
		t.Errorf("%d of %d requests took more than three seconds", slow, requests)
	}
	return passed
}

// TestRefusedCredentialsEndForTheirAddress, and the health listener answers.
func TestRefusedCredentialsEndForTheirAddress(t *testing.T) {
	t.Parallel()
	g := launch(t, t.TempDir(), "--rate-failures", "24/h,5")
	s := newScene(t, g)
	statuses := map[int]int{}
	for i := range 20 {
		forged := s.Checker[:len(s.Checker)-8] + fmt.Sprintf("%08d", i)
		statuses[call(t, "GET", s.path("/roles"), forged, "").Status]++
	}
	if statuses[401] != 5 || statuses[429] != 15 {
		t.Errorf("answers to forged tokens: %v", statuses)
	}
	g.wantReady(t, 200)
}

// TestConnectionsOfAnAddressAreBounded: those that are open are served, the health listener
// answers, and there is room again when they are closed.
func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	g := launch(t, t.TempDir(), "--max-connections-per-address", "10", "--max-connections", "100")
	address := strings.TrimPrefix(g.URL, "http://")
	var open []net.Conn
	for range 10 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	count := `portcullis_connections_refused_total{bound="address"}`
	polled(t, "ten are not open", func() bool { return metricOf(t, g, "portcullis_connections") == 10 })
	for range 5 {
		a := rawSend(t, g.URL, "GET /nothing HTTP/1.1\r\nHost: gateway\r\n\r\n")
		if a.Status != 429 || !a.Closed || a.Header.Get("Retry-After") == "" || !strings.Contains(a.Body, `"code":"RATE_LIMITED"`) {
			t.Errorf("%+v", a)
		}
	}
	if n := metricOf(t, g, count); n != 5 {
		t.Errorf("%v refused connections are counted", n)
	}
	g.wantReady(t, 200)
	for _, c := range open {
		_ = c.Close()
	}
	polled(t, "they are still open", func() bool { return metricOf(t, g, "portcullis_connections") == 0 })
	if a := rawSend(t, g.URL, "GET /openapi.json HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"); a.Status != 200 {
		t.Errorf("%d", a.Status)
	}
}

// polled asks until it is so.
func polled(t *testing.T, otherwise string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

package api_test

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// rolesAt is a question of the admin of an account, about their account.
func rolesAt(t *testing.T, s *harness.Scene, g *harness.Gateway, token string) harness.Reply {
	t.Helper()
	return harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+s.Account+"/roles", token, "")
}

// TestCallersAreHeldToTheirRate, in the shape of each area; another caller and what needs no
// credential are not.
func TestCallersAreHeldToTheirRate(t *testing.T) {
	t.Parallel()
	g := harness.Launch(t, t.TempDir(), "--rate-principal", "60/h,3", "--rate-service", "off", "--rate-account", "60/h,10")
	s := harness.NewScene(t, g)
	for remaining := 3; remaining > 0; {
		r := rolesAt(t, s, g, s.AdminToken)
		remaining -= r.Tries
		if got := r.Header.Get("RateLimit-Remaining"); r.Status != 200 || r.Header.Get("RateLimit-Limit") != "3" || got != strconv.Itoa(remaining) {
			t.Errorf("%d are left: %d, limit %q, remaining %q", remaining, r.Status, r.Header.Get("RateLimit-Limit"), got)
		}
	}
	for path, code := range map[string][]any{
		"/roles": {"error", "code", "RATE_LIMITED"}, "/users": {"error", "code", "RATE_001"},
		"/projects/" + s.Project + "/security-groups": {"code", "RATE_LIMITED"},
	} {
		r := harness.Call(t, "GET", s.Path(path), s.AdminToken, "", "X-Account-ID", s.Account)
		after, err := strconv.Atoi(r.Header.Get("Retry-After"))
		if last := len(code) - 1; r.Status != 429 || err != nil || after < 1 || after > 60 || harness.At(r.Body, code[:last]...) != code[last] {
			t.Errorf("%s: %d %s, come again after %q", path, r.Status, r.Raw, r.Header.Get("Retry-After"))
		}
	}
	for range 20 {
		if r := s.Ask(t, s.Admin, "project:instance:read", "/projects/"+s.Project); r.Status != 200 || r.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("the service: %d %s %v", r.Status, r.Raw, r.Header)
		}
	}
	if r := harness.Call(t, "GET", g.URL+"/openapi.json", "", ""); r.Status != 200 {
		t.Errorf("the document: %d", r.Status)
	}
	if n := harness.MetricOf(t, g, `portcullis_rate_limited_total{limit="principal"}`); n != 3 {
		t.Errorf("%v are counted", n)
	}
}

// TestReplicasHoldACallerToOneRate together; without Redis each to the whole of it, with
// right answers and in time.
func TestReplicasHoldACallerToOneRate(t *testing.T) {
	t.Parallel()
	r := harness.StartReplicas(t, 2, "--rate-principal", "24/h", "--rate-service", "off")
	token, first := "", 0
	for n := range 3 { // on a busy machine Redis may not answer in time, which lets more pass
		token = newcomer(t, r, n)
		if first = passed(t, r, token, 80); first >= 24 && first <= 26 {
			break
		}
	}
	if first < 24 || first > 26 {
		t.Errorf("%d of 80 passed, want 24", first)
	}
	for name, spoil := range map[string]func() func(){
		"flushed": func() func() { r.Redis.Client(t).FlushAll(t.Context()); return func() {} },
		"hangs":   func() func() { return r.Redis.Pause(t) },
	} {
		undo := spoil()
		if first += passed(t, r, token, 40); first > 48 {
			t.Errorf("%s: %d passed in all, of two replicas at 24", name, first)
		}
		undo()
	}
	token = newcomer(t, r, 3)
	resume := r.Redis.Pause(t)
	passed := passed(t, r, token, 80)
	resume()
	if passed != 48 {
		t.Errorf("without Redis %d passed, want 24 at each", passed)
	}
}

// newcomer is the token of a user who has asked for nothing yet, and may do nothing.
func newcomer(t *testing.T, r *harness.Replicas, n int) string {
	t.Helper()
	user := fmt.Sprintf("user-newcomer%d-v1", n)
	r.AddUser(t, user)
	return r.UserToken(t, user)
}

// passed is how many of a newcomer's requests, to both replicas in turns, are held to no rate.
// Hardly any takes long: one that hangs with Redis would do so until Redis is left alone.
func passed(t *testing.T, r *harness.Replicas, token string, requests int) (passed int) {
	t.Helper()
	slow := 0
	for i := range requests {
		began := time.Now()
		got := rolesAt(t, r.Scene, r.All[i%2], token)
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
	g := harness.Launch(t, t.TempDir(), "--rate-failures", "24/h,5")
	s := harness.NewScene(t, g)
	statuses := map[int]int{}
	for i := range 20 {
		forged := s.Checker[:len(s.Checker)-8] + fmt.Sprintf("%08d", i)
		statuses[harness.Call(t, "GET", s.Path("/roles"), forged, "").Status]++
	}
	if statuses[401] != 5 || statuses[429] != 15 {
		t.Errorf("answers to forged tokens: %v", statuses)
	}
	g.WantReady(t, 200)
}

// TestConnectionsOfAnAddressAreBounded: those that are open are served, the health listener
// answers, and there is room again when they are closed.
func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	g := harness.Launch(t, t.TempDir(), "--max-connections-per-address", "10", "--max-connections", "100")
	address := strings.TrimPrefix(g.URL, "http://")
	var open []net.Conn
	for range 10 {
		c := must.Get(net.Dial("tcp", address))(t)
		open = append(open, c)
	}
	count := `portcullis_connections_refused_total{bound="address"}`
	harness.Soon(t, "ten connections are open", func() bool { return harness.MetricOf(t, g, "portcullis_connections") == 10 })
	for range 5 {
		a := harness.SendRaw(t, g.URL, "GET /nothing HTTP/1.1\r\nHost: gateway\r\n\r\n")
		if a.Status != 429 || !a.Closed || a.Header.Get("Retry-After") == "" || !strings.Contains(a.Body, `"code":"RATE_LIMITED"`) {
			t.Errorf("%+v", a)
		}
	}
	if n := harness.MetricOf(t, g, count); n != 5 {
		t.Errorf("%v refused connections are counted", n)
	}
	g.WantReady(t, 200)
	for _, c := range open {
		_ = c.Close()
	}
	harness.Soon(t, "all connections are closed", func() bool { return harness.MetricOf(t, g, "portcullis_connections") == 0 })
	if a := harness.SendRaw(t, g.URL, "GET /openapi.json HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"); a.Status != 200 {
		t.Errorf("%d", a.Status)
	}
}

package api_test

import (
	"strings"
	"testing"
	"time"
)

// TestServeSaysReadyOnce, when every listener answers, and says where.
func TestServeSaysReadyOnce(t *testing.T) {
	t.Parallel()
	g := sharedGateway(t)
	for _, url := range []string{g.URL + "/.well-known/jwks.json", g.UsersURL + "/.well-known/jwks.json", g.HealthURL + "/healthz/ready"} {
		if r := call(t, "GET", url, "", ""); r.Status != 200 {
			t.Errorf("%s: %d %s", url, r.Status, r.Raw)
		}
	}
	if n := strings.Count(g.stderr.String(), `"msg":"ready"`); n != len(g.each()) || g.stdout.String() != "" {
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
	if code := s.ended(t); code != 0 || time.Since(started) > 9*time.Second { // who is waited for has ten
		t.Errorf("exit %d after %s\n%s", code, time.Since(started), s.stderr)
	}
	g := startGatewayIn(t, s.DataDir)
	if r := call(t, "GET", g.URL+"/api/v1/accounts/"+s.Account+"/roles", s.AdminToken, ""); r.Status != 200 {
		t.Errorf("after the restart, with a token of before: %d %s", r.Status, r.Raw)
	}
}

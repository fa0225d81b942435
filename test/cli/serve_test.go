package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestServeSaysReadyOnce, when every listener answers, and says where.
func TestServeSaysReadyOnce(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	for _, url := range []string{g.URL + "/.well-known/jwks.json", g.UsersURL + "/.well-known/jwks.json", g.HealthURL + "/healthz/ready"} {
		if r := harness.Call(t, "GET", url, "", ""); r.Status != 200 {
			t.Errorf("%s: %d %s", url, r.Status, r.Raw)
		}
	}
	if n := strings.Count(g.Stderr.String(), `"msg":"ready"`); n != len(g.Each()) || g.Stdout.String() != "" {
		t.Errorf("ready %d times; stdout %q", n, g.Stdout)
	}
}

// TestSIGTERMEndsAnIdleGatewayAtOnce, with a kept-alive connection open, and the data
// folder can be opened again.
func TestSIGTERMEndsAnIdleGatewayAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	s.Must(t, 200, "GET", "/roles", "")
	started := time.Now()
	s.Terminate(t)
	if code := s.Ended(t); code != 0 || time.Since(started) > 9*time.Second { // who is waited for has ten
		t.Errorf("exit %d after %s\n%s", code, time.Since(started), s.Stderr)
	}
	g := harness.StartIn(t, s.DataDir)
	if r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+s.Account+"/roles", s.AdminToken, ""); r.Status != 200 {
		t.Errorf("after the restart, with a token of before: %d %s", r.Status, r.Raw)
	}
}

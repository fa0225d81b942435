package mcp_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// stream opens a call that the server answers with an endless stream. leave makes the client go away.
func stream(t *testing.T, g *harness.Gateway, path, token string) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	streaming(ctx, t, g, path, token, callWith("search_issues", `{"q":"hang"}`), modern("tools/call", "search_issues"))
	return cancel
}

// outcome waits for the n-th outcome.
func outcome(t *testing.T, g *harness.Gateway, n int) (r recorded) {
	t.Helper()
	harness.Soon(t, "the outcome is recorded", func() bool {
		_, all := export(t, g)
		if len(all["mcp/outcome"]) < n {
			return false
		}
		r = all["mcp/outcome"][n-1]
		return true
	})
	return r
}

// TestAnOutcomeNamesTheEnd guarantees a word each for the client, another verdict, a server out of reach, and a stop of the
// gateway.
func TestAnOutcomeNamesTheEnd(t *testing.T) {
	t.Parallel()
	url, _ := actingServer(t)
	policies := policiesWith(t, rows)
	down := filepath.Join(policies, "mcp", "down")
	if err := os.MkdirAll(down, 0o750); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(down, "data.json"), strings.Replace(rows, `"github"`, `"down"`, 1))
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	g := startOn(t, url, policies, "--upstream", "down=http://"+gone.Addr().String())
	token := tokenFor(t, g, reader, bothScopes)

	stream(t, g, path, token)()
	if r := outcome(t, g, 1); r.Result.EndedBy != "caller" || r.Result.Status != 200 {
		t.Errorf("a client that has gone: %+v", r)
	}
	elsewhere := strings.Replace(path, "issues", "down", 1)
	resp, text := raw(t, g, elsewhere, g.Token(t, "--user", reader, "--audience", publicURL+elsewhere, "--scope", bothScopes), call("search_issues"), modern("tools/call", "search_issues")...)
	if r := outcome(t, g, 2); r.Result.EndedBy != "upstream" || r.Result.Status != 0 || r.Input.Server != "down" || !strings.Contains(text, "-32603") || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a server that is down: %+v, %s", r, text)
	}
	stream(t, g, path, token)
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/users/"+reader, g.UserToken(t, admin), `{"status": "SUSPENDED"}`, "x-account-id", account); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	if r := outcome(t, g, 3); r.Result.EndedBy != "verdict" {
		t.Errorf("a suspended user's: %+v", r)
	}
	for _, series := range []string{`outcome="caller",server="issues"`, `outcome="no_answer",server="down"`, `outcome="verdict",server="issues"`} {
		if n := harness.MetricOf(t, g, "portcullis_mcp_calls_total{"+series+"}"); n != 1 {
			t.Errorf("%s: %v", series, n)
		}
	}
	stream(t, g, path, tokenFor(t, g, admin, bothScopes))
	g.Terminate(t)
	g.Ended(t)
	if r := outcome(t, g, 4); r.Result.EndedBy != "gateway" {
		t.Errorf("at a stop: %+v", r)
	}
}

// TestARecordNamesAllActors guarantees the agent and the whole chain of a token's actors, and the end of a call whose
// token ends.
func TestARecordNamesAllActors(t *testing.T) {
	t.Parallel()
	url, _ := actingServer(t)
	provider := harness.NewIdentityProvider(t, "https://login.example", "k1")
	g := harness.OutsideGateway(t, "--jwt-issuer", "https://login.example", "--jwt-audience", provider.Audience, "--jwks-file", harness.TempFile(t, "jwks.json", provider.Jwks()),
		"--public-url", publicURL, "--policy-dir", policiesWith(t, rows), "--upstream", "github="+url)
	end := time.Now().Add(3 * time.Second).Truncate(time.Second)
	stream(t, g, "/mcp/issues", provider.Token(t, harness.OutsideAdmin, func(c jwt.MapClaims) {
		c["aud"], c["scope"], c["exp"] = publicURL+"/mcp/issues", bothScopes, end.Add(-30*time.Second).Unix()
		c["act"] = map[string]any{"sub": "agent-one", "act": map[string]any{"sub": "agent-two"}}
		delete(c, "iat")
		delete(c, "nbf")
	}))
	if r := outcome(t, g, 1); r.Result.EndedBy != "token" {
		t.Errorf("after the token's end: %+v", r)
	}
	_, all := export(t, g)
	for _, path := range []string{"mcp/call", "mcp/outcome"} {
		if r := all[path]; len(r) != 1 || r[0].Input.Agent != "agent-one" || strings.Join(r[0].Input.Actors, " ") != "agent-one agent-two" {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// TestADenialsRecordHasTheDefinition that the server has now, beside the code of a changed one.
func TestADenialsRecordHasTheDefinition(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	reviewed := "sha256:" + strings.Repeat("0", 64)
	row := strings.NewReplacer(`"pin": "names",`, ``, `"effect": "read"}, "merge`, `"effect": "read", "definition": "`+reviewed+`"}, "merge`,
		`"effect": "write"}`, `"effect": "write", "definition": "`+reviewed+`"}`).Replace(rows)
	g := startGateway(t, u, row, "--decision-log", "required")
	token := tokenFor(t, g, reader, bothScopes)
	harness.Soon(t, "the server is listed", func() bool {
		_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
		return strings.Contains(text, "definition_changed")
	})
	_, all := export(t, g)
	calls := all["mcp/call"]
	for i, r := range calls {
		undecided := r.Result.Code == "undecided" && i < len(calls)-1
		changed := r.Result.Code == "definition_changed" && r.Input.Definition != reviewed && strings.HasPrefix(r.Input.Definition, "sha256:")
		if r.Result.Allow == nil || *r.Result.Allow || !undecided && !changed {
			t.Errorf("%+v", r)
		}
	}
	if n := harness.MetricOf(t, g, `portcullis_mcp_changed_definitions{server="issues"}`); n != 2 {
		t.Errorf("%v tools have a changed definition", n)
	}
	if n := harness.MetricOf(t, g, `portcullis_mcp_calls_total{outcome="definition_changed",server="issues"}`); n != 1 {
		t.Errorf("%v calls were denied for it", n)
	}
	if len(calls) == 0 || len(calls) != len(all["authz/decision"]) || len(all["mcp/outcome"]) > 0 || len(u.called()) > 0 {
		t.Errorf("%d records of %d decisions, %d outcomes", len(calls), len(all["authz/decision"]), len(all["mcp/outcome"]))
	}
}

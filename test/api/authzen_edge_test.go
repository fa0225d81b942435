package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestConfigurationNamesThePublicURL, and nothing of the request; without one there is none.
func TestConfigurationNamesThePublicURL(t *testing.T) {
	t.Parallel()
	const path = "/.well-known/authzen-configuration"
	s := harness.Shared(t)
	r := harness.Call(t, "GET", s.URL+path, "", "", "X-Forwarded-Host", "evil.example")
	for name, want := range map[string]string{
		"policy_decision_point": harness.PublicURL, "access_evaluation_endpoint": harness.PublicURL + pathEvaluation,
		"access_evaluations_endpoint": harness.PublicURL + pathEvaluations,
	} {
		if r.Status != 200 || r.Body[name] != want || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d %s, want %s", r.Status, r.Raw, want)
		}
	}
	raw := harness.SendRaw(t, s.URL, "GET "+path+" HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Proto: http\r\n\r\n")
	if raw.Status != 200 || raw.Body != string(r.Raw) {
		t.Errorf("%d %s", raw.Status, raw.Body)
	}
	for _, c := range []struct{ method, path string }{{"GET", path + "?x=1"}, {"POST", path}} {
		if r := harness.Call(t, c.method, s.URL+c.path, "", ""); r.Status != 400 && r.Status != 405 {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.Status, r.Raw)
		}
	}
	if r := harness.Call(t, "GET", s.URL+path+"/elsewhere", "", ""); r.Status != 404 {
		t.Errorf("below a path that is not the URL's: %d %s", r.Status, r.Raw)
	}
	const ofPath = "https://gateway.example/authz/v1"
	below := harness.Start(t, "--public-url", ofPath)
	for suffix, want := range map[string]int{"": 200, "/authz/v1": 200, "/authz": 404, "/authz/v1/x": 404, "/authz/v1/": 404, "/AUTHZ/v1": 404} {
		if r := harness.Call(t, "GET", below.URL+path+suffix, "", ""); r.Status != want || want == 200 && r.Body["policy_decision_point"] != ofPath {
			t.Errorf("%s of a URL with a path: %d %s", suffix, r.Status, r.Raw)
		}
	}
	gateway := harness.Start(t)
	if r := harness.Call(t, "GET", gateway.URL+path, "", ""); r.Status != 404 {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

// TestIdentityHeadersAreUnambiguousEverywhere guarantees it for headers AuthZEN does not read, too: another server
// could read them differently.
func TestIdentityHeadersAreUnambiguousEverywhere(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Shared(t))
	one := question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project))
	calls := map[string]string{
		"GET /.well-known/authzen-configuration": "",
		"POST " + pathEvaluation:                 marshalled(t, one),
		"POST " + pathEvaluations:                marshalled(t, object{"evaluations": []object{one, one}}),
	}
	for kind, body := range searchBodies(s) {
		calls["POST /access/v1/search/"+kind] = marshalled(t, body)
	}
	for call, body := range calls {
		lines := "Host: gateway\r\n"
		if body != "" {
			lines += fmt.Sprintf("Authorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", s.Checker, len(body))
		}
		for _, name := range []string{"X-User-ID", "X-Account-ID", "X-Action"} {
			once, odd := name+": a\r\n", strings.ReplaceAll(name, "-", "_")+": a\r\n"
			for added, want := range map[string]int{once: 200, odd: 400, once + once: 400, once + odd: 400} {
				r := harness.SendRaw(t, s.URL, call+" HTTP/1.1\r\n"+lines+added+"\r\n"+body)
				if r.Status != want || want == 400 && !strings.Contains(r.Body, name+": must be sent once") {
					t.Errorf("%s with %q: %d %s", call, added, r.Status, r.Body)
				}
			}
		}
	}
	for _, twice := range []string{"Authorization: Bearer x\r\n", "X-API-Key: x\r\n"} {
		r := harness.SendRaw(t, s.URL, "GET /.well-known/authzen-configuration HTTP/1.1\r\nHost: gateway\r\n"+twice+twice+"\r\n")
		if r.Status != 400 {
			t.Errorf("twice %q: %d %s", twice, r.Status, r.Body)
		}
	}
}

// TestEachEvaluationCountsForTheRate: a batch that the burst does not hold is 429 and takes one only.
func TestEachEvaluationCountsForTheRate(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--rate-service", "1/h,20"))
	checker := s.ServiceToken(t, "authz:check")
	item := question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project))
	batch := func(n int) object { return object{"evaluations": slices.Repeat([]object{item}, n)} }
	remaining := 18 // the scene took two
	for _, c := range []struct {
		n, want, costs int
	}{{8, 200, 8}, {11, 429, 1}, {1, 200, 1}, {8, 200, 8}, {1, 429, 0}} {
		r := evaluateAll(t, s, checker, batch(c.n))
		remaining -= c.costs
		if r.Status != c.want || c.want == 200 && r.Header.Get("RateLimit-Remaining") != marshalled(t, remaining) {
			t.Fatalf("%d of %d: %d %s, %s left", c.n, remaining, r.Status, r.Raw, r.Header.Get("RateLimit-Remaining"))
		}
		if c.want == 429 && (r.Header.Get("Retry-After") == "" || harness.At(r.Body, "error", "code") != "RATE_LIMITED") {
			t.Errorf("%s, Retry-After %q", r.Raw, r.Header.Get("Retry-After"))
		}
	}
}

// TestLogTellsOfEvaluations: a line for each request, with the decision of one question, or with what the
// questions of a batch have in common and how many are allowed.
func TestLogTellsOfEvaluations(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t))
	item := question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project))
	other := question(entity("user", "user-nobody-v1"), "project:instance:read", entity("project", s.Project), "account_id", s.Account)
	one := evaluate(t, s, s.Checker, item)
	evaluateAll(t, s, s.Checker, object{"evaluations": []object{item, other, item}})
	var lines []map[string]any
	for _, line := range s.Settled(t) {
		if route, _ := line["route"].(string); route == "authzen.evaluation" || route == "authzen.evaluations" {
			lines = append(lines, line)
		}
	}
	want := []map[string]any{
		{"subject": s.Admin, "account": s.Account, "action": "project:instance:read", "decision": "allow", "decision_id": harness.At(one.Body, "context", "decision_id")},
		{"account": s.Account, "action": "project:instance:read", "decision": "deny", "reason": "2 of 3 allowed"},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for i := range want {
		for name, value := range want[i] {
			if lines[i][name] != value {
				t.Errorf("%s is %v, want %v", name, lines[i][name], value)
			}
		}
	}
}

// TestRequestIDIsEchoed guarantees it for any text and with every answer. An ambiguous id is replaced.
func TestRequestIDIsEchoed(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	body := marshalled(t, question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project)))
	ask := func(path, token, id string) harness.RawAnswer {
		return harness.SendRaw(t, s.URL, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\nX-Request-ID: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			path, token, id, len(body), body))
	}
	for _, path := range []string{pathEvaluation, pathEvaluations} {
		for _, id := range []string{"bfe9eb29-ab87-4ca3-be83-a1d5d8305716", "urn:req/1?a=\"b c\"", strings.Repeat("x", 1024)} {
			for token, want := range map[string]int{s.Checker: 200, s.Platform: 403, "x": 401} {
				if r := ask(path, token, id); r.Status != want || r.Header.Get("X-Request-ID") != id {
					t.Errorf("%s: %d, X-Request-ID %q, want %q", path, r.Status, r.Header.Get("X-Request-ID"), id)
				}
			}
		}
		for _, id := range []string{"caf\xc3\xa9", "a\tb", strings.Repeat("x", 1025), s.Checker} {
			if r := ask(path, s.Checker, id); r.Status != 200 || len(r.Header.Get("X-Request-ID")) != 26 {
				t.Errorf("%s: %d, X-Request-ID %q of %q", path, r.Status, r.Header.Get("X-Request-ID"), id)
			}
		}
	}
}

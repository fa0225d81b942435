package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestEveryRequestHasOneAccessLine with who, what, the decision and why.
func TestEveryRequestHasOneAccessLine(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	id := "logs-" + teamNameOf(s)
	ask := func(suffix, user string) harness.Reply {
		return harness.Call(t, "POST", s.URL+"/api/v1/authorize/projects/"+s.Project+"/x", s.Checker, "", "X-Request-ID", id+suffix,
			"X-User-ID", user, "X-Account-ID", s.Account, "X-Action", "project:x:read")
	}
	asked := map[string]int{
		"-allow": ask("-allow", s.Admin).Tries, "-deny": ask("-deny", s.Bob).Tries,
		"-own":    harness.Call(t, "GET", s.Path("/roles"), s.AdminToken, "", "X-Request-ID", id+"-own").Tries,
		"-nobody": harness.Call(t, "GET", s.Path("/roles"), "", "", "X-Request-ID", id+"-nobody").Tries,
	}
	s.Settled(t)
	for suffix, want := range map[string]map[string]any{
		"-allow":  {"principal": "service-test", "action": "project:x:read", "decision": "allow", "reason": "role account_admin grants project:x:read", "status": 200.0, "route": "authorization.check", "account": s.Account, "method": "POST", "level": "INFO"},
		"-deny":   {"principal": "service-test", "decision": "deny", "reason": "no active role of the user grants project:x:read in " + s.Project, "status": 200.0},
		"-own":    {"principal": s.Admin, "action": "account:role:read", "decision": "allow", "status": 200.0, "route": "role.list", "path": "/api/v1/accounts/" + s.Account + "/roles"},
		"-nobody": {"principal": "", "decision": "deny", "status": 401.0, "policy_revision": ""},
	} {
		lines := s.RequestLines(id + suffix)
		if len(lines) != asked[suffix] {
			t.Fatalf("%s has %d lines, and was asked %d times", suffix, len(lines), asked[suffix])
		}
		line := lines[len(lines)-1]
		for name, value := range want {
			if line[name] != value {
				t.Errorf("%s: %s is %v, want %v", suffix, name, line[name], value)
			}
		}
		if took, ok := line["duration_ms"].(float64); !ok || took <= 0 {
			t.Errorf("%s: duration_ms %v", suffix, line["duration_ms"])
		}
		if revision := line["policy_revision"]; (revision == "") != (suffix == "-nobody") {
			t.Errorf("%s: policy_revision %v", suffix, revision)
		}
	}
}

// TestLogLineIsOneLine guarantees it for line breaks and escape codes, encoded or raw, in path,
// headers, query and body.
func TestLogLineIsOneLine(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			g := harness.Start(t, "--log-format", format, "--log-level", "debug")
			const forged = "\n{\"msg\":\"request\",\"decision\":\"allow\",\"forged\":true}\n"
			encoded := strings.NewReplacer("\n", "%0A", `"`, "%22", "{", "%7B", "}", "%7D").Replace(forged)
			for _, target := range []string{"/api/v1/authorize/x" + encoded, "/" + encoded, "/x%1b%5b2J", "/api/v1/accounts?x=" + encoded, "/\x1b[2J\u2028"} {
				harness.SendRaw(t, g.URL, "GET "+target+" HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n")
				harness.SendRaw(t, g.URL, "POST "+target+" HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-User-ID: a\u2028b\r\nX-Action: \x1b[2J\r\nUser-Agent: a\tb\r\n\r\n{}")
			}
			harness.SendRaw(t, g.URL, "GET /x HTTP/1.1\r\nHost: gateway\r\nX-Request-ID: a\n"+strings.TrimSpace(forged)+": x\r\nConnection: close\r\n\r\n")
			g.Terminate(t)
			g.Ended(t)
			for line := range strings.Lines(g.Stderr.String()) {
				if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\x1b") || strings.HasPrefix(line, `{"msg"`) {
					t.Errorf("%q", line)
				}
				if format == "json" && !json.Valid([]byte(line)) || format == "text" && !strings.HasPrefix(line, "time=") {
					t.Errorf("no whole line: %q", line)
				}
			}
		})
	}
}

// TestNoSecretLeavesTheGateway at debug level: not the token, not the master key, in any
// log, metric, answer or start-up line.
func TestNoSecretLeavesTheGateway(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--log-level", "debug")
	key := must.Get(os.ReadFile(filepath.Join(s.DataDir, "master.key")))(t)
	master := strings.TrimSpace(string(key))
	var seen []string
	keep := func(r harness.Reply) { seen = append(seen, string(r.Raw)) }
	for _, token := range []string{s.AdminToken, s.Checker, s.AdminToken + "x", "marked-secret-token", "pcl_sk_live_marked-secret-key"} {
		for _, url := range []string{s.Path("/roles"), s.Path("/groups"), s.URL + "/nowhere", s.URL + "/api/v1/authorize/x//y", s.HealthURL + "/healthz/ready"} {
			keep(harness.Call(t, "GET", url, token, ""))
			keep(harness.Call(t, "POST", url, token, `{"name":`))
			keep(harness.Call(t, "POST", url, "", `{}`, "X-API-Key", token))
			keep(harness.Call(t, "GET", url, "", "", "Authorization", "Basic "+token))
		}
	}
	keep(callRaw(t, s.URL, "/api/v1/authorize/%zz", s.AdminToken, ""))
	keep(harness.Reply{Raw: []byte(harness.MetricsOf(t, s.Gateway))})
	s.Settled(t)
	s.Terminate(t)
	s.Ended(t)
	all := s.Stderr.String() + s.Stdout.String() + strings.Join(seen, "\n")
	for name, secret := range map[string]string{
		"the admin's token": s.AdminToken[strings.LastIndex(s.AdminToken, ".")+1:], "the service's token": s.Checker[strings.LastIndex(s.Checker, ".")+1:],
		"a broken token": "marked-secret-token", "an API key": "marked-secret-key", "the master key": master, "a half of it": master[:20],
	} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is shown", name)
		}
	}
}

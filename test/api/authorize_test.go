package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// e3 asks on a listener with a token; the other values have their defaults.
func e3(t testing.TB, s *harness.Scene, token, user, account, action, path string) harness.Reply {
	t.Helper()
	return harness.Call(t, "POST", s.URL+"/api/v1/authorize/"+path, token, "", "X-User-ID", user, "X-Account-ID", account, "X-Action", action)
}

func verdict(t testing.TB, r harness.Reply) (allowed bool, reason string) {
	t.Helper()
	var ok bool
	if allowed, ok = r.Body["allowed"].(bool); !ok || r.Status != 200 {
		t.Fatalf("no verdict: %d %s", r.Status, r.Raw)
	}
	reason, _ = r.Body["reason"].(string)
	return allowed, reason
}

func problems(t testing.TB, r harness.Reply) []string {
	t.Helper()
	var e struct {
		Error struct {
			Code, Message string
			Details       []string
		}
	}
	if err := json.Unmarshal(r.Raw, &e); err != nil || e.Error.Code == "" || e.Error.Message == "" {
		t.Fatalf("no error body: %v %s", err, r.Raw)
	}
	return e.Error.Details
}

// TestAuthorizeAnswersTwoFields, on both listeners, with the facts about the decision in
// headers.
func TestAuthorizeAnswersTwoFields(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Shared(t))
	for _, listener := range []string{s.URL, s.UsersURL} {
		for action, want := range map[string]bool{"project:instance:create": true, "account:instance:create": false} {
			r := harness.Call(t, "POST", listener+"/api/v1/authorize/accounts/"+s.Account+"/projects/"+s.Project+"/instances", s.Checker, "",
				"X-User-ID", s.Admin, "X-Account-ID", s.Account, "X-Action", action, "X-Request-ID", "e3-test")
			allowed, reason := verdict(t, r)
			if allowed != want || reason == "" || !slices.Equal(slices.Sorted(maps.Keys(r.Body)), []string{"allowed", "reason"}) {
				t.Errorf("%s: %s", action, r.Raw)
			}
			if want && reason != "role account_admin grants "+action {
				t.Errorf("reason %q", reason)
			}
			for name, valid := range map[string]bool{
				"X-Decision-ID": len(r.Header.Get("X-Decision-ID")) == 26, "X-Policy-Revision": r.Header.Get("X-Policy-Revision") != "",
				"X-Account-Revision": strings.Trim(r.Header.Get("X-Account-Revision"), "0123456789") == "" && r.Header.Get("X-Account-Revision") > "0",
				"X-Request-ID":       r.Header.Get("X-Request-ID") == "e3-test", "Content-Type": r.Header.Get("Content-Type") == "application/json",
			} {
				if !valid {
					t.Errorf("%s is %q", name, r.Header.Get(name))
				}
			}
		}
	}
}

// TestWhoMayAskAuthorize: a service with the scope, the user in question, and who holds
// account:authorization:check there. Everybody else gets 403, and no verdict.
func TestWhoMayAskAuthorize(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	s, other := harness.NewScene(t, g), harness.NewScene(t, g)
	const action = "project:instance:read"
	path := "projects/" + s.Project + "/instances"
	for name, c := range map[string]struct {
		token, user, account string
		want                 int
	}{
		"200 a service with authz:check":      {s.Checker, s.Admin, s.Account, 200},
		"200 the user in question":            {s.AdminToken, s.Admin, s.Account, 200},
		"200 an admin about another":          {s.AdminToken, "user-somebody-v1", s.Account, 200},
		"200 a user about itself elsewhere":   {s.AdminToken, s.Admin, other.Account, 200},
		"403 a service without":               {s.Platform, s.Admin, s.Account, 403},
		"403 a service with another scope":    {g.ServiceToken(t, "users:sync"), s.Admin, s.Account, 403},
		"403 another account's admin":         {other.AdminToken, s.Admin, s.Account, 403},
		"403 another admin, an absent user":   {other.AdminToken, "user-nobody-v1", s.Account, 403},
		"403 another admin, an absent place":  {other.AdminToken, s.Admin, "acct-absent-v1", 403},
		"401 nobody":                          {"", s.Admin, s.Account, 401},
		"401 a token that is none":            {"x.y.z", s.Admin, s.Account, 401},
		"401 a user whom the store lacks":     {g.UserToken(t, "user-ghost-v1"), "user-ghost-v1", s.Account, 401},
		"401 a token with a changed ending":   {harness.OtherEnding(s.Checker), s.Admin, s.Account, 401},
		"401 a token without its signature":   {s.Checker[:strings.LastIndex(s.Checker, ".")+1], s.Admin, s.Account, 401},
		"401 two tokens in one":               {s.Checker + "," + s.Checker, s.Admin, s.Account, 401},
		"401 a token in another one's scheme": {"Bearer " + s.Checker, s.Admin, s.Account, 401},
	} {
		t.Run(name, func(t *testing.T) {
			r := e3(t, s, c.token, c.user, c.account, action, path)
			_, decided := r.Body["allowed"]
			if r.Status != c.want || decided != (c.want == 200) {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
			if (r.Header.Get("WWW-Authenticate") == "Bearer") != (c.want == 401) {
				t.Errorf("WWW-Authenticate %q", r.Header.Get("WWW-Authenticate"))
			}
		})
	}
	if a, b := e3(t, s, other.AdminToken, s.Admin, s.Account, action, path), e3(t, s, other.AdminToken, s.Admin, "acct-absent-v1", action, path); string(a.Raw) == "" ||
		strings.ReplaceAll(string(a.Raw), s.Account, "X") != strings.ReplaceAll(string(b.Raw), "acct-absent-v1", "X") {
		t.Errorf("an account that exists is told from one that does not: %s %s", a.Raw, b.Raw)
	}
}

// TestWhatIsUnknownIsDenied with 200, and another's account or project in the path with
// the words for one that does not exist.
func TestWhatIsUnknownIsDenied(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	s, other := harness.NewScene(t, g), harness.NewScene(t, g)
	const action = "project:instance:read"
	base := "accounts/" + s.Account + "/projects/"
	reasons := map[string]string{}
	for name, c := range map[string]struct{ user, account, path string }{
		"unknown user":             {"user-nobody-v1", s.Account, base + s.Project + "/x"},
		"another account's user":   {other.Admin, s.Account, base + s.Project + "/x"},
		"unknown account":          {s.Admin, "acct-absent-v1", "x"},
		"another account":          {s.Admin, other.Account, "x"},
		"unknown project":          {s.Admin, s.Account, base + "proj-absent-v1/x"},
		"another's project":        {s.Admin, s.Account, base + other.Project + "/x"},
		"unknown account in path":  {s.Admin, s.Account, "accounts/acct-absent-v1/x"},
		"another account in path":  {s.Admin, s.Account, "accounts/" + other.Account + "/x"},
		"another's path, whole":    {s.Admin, s.Account, "api/v1/accounts/" + other.Account + "/projects/" + other.Project + "/x"},
		"unknown path, whole":      {s.Admin, s.Account, "api/v1/accounts/acct-absent-v1/projects/proj-absent-v1/x"},
		"account in other letters": {strings.ToUpper(s.Admin), s.Account, base + s.Project + "/x"},
	} {
		allowed, reason := verdict(t, e3(t, s, s.Checker, c.user, c.account, action, c.path))
		if allowed || reason == "" {
			t.Errorf("%s: allowed=%v %q", name, allowed, reason)
		}
		for _, id := range []string{other.Project, "proj-absent-v1"} {
			reason = strings.ReplaceAll(reason, id, "proj")
		}
		reasons[name] = reason
	}
	for _, pair := range [][2]string{
		{"unknown user", "another account's user"},
		{"unknown account", "another account"},
		{"unknown project", "another's project"},
		{"unknown account in path", "another account in path"},
		{"another's path, whole", "unknown path, whole"},
	} {
		if reasons[pair[0]] != reasons[pair[1]] {
			t.Errorf("%s: %q, %s: %q", pair[0], reasons[pair[0]], pair[1], reasons[pair[1]])
		}
	}
}

// TestAuthorizeRefusesWhatIsNotAQuestion: 400 with all problems in details.
func TestAuthorizeRefusesWhatIsNotAQuestion(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Shared(t))
	good := []string{"X-User-ID", s.Admin, "X-Account-ID", s.Account, "X-Action", "project:instance:read"}
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		want       []string
	}{
		"no headers":        {"x", "", nil, []string{"X-User-ID: is missing", "X-Account-ID: is missing", "X-Action: must"}},
		"a body":            {"x", "{}", good, []string{"body: must be empty"}},
		"empty path":        {"", "", good, []string{"path: is empty"}},
		"ill-formed action": {"x", "", append(slices.Clone(good[:4]), "X-Action", "project:*:read"), []string{"X-Action: must have the form"}},
		"ill-formed ids":    {"x", "", []string{"X-User-ID", "a/b", "X-Account-ID", "a b", "X-Action", "project:instance:read"}, []string{"X-User-ID: must be", "X-Account-ID: must be"}},
		"everything":        {"a//b/%2e%2E/c;d?q", "x", []string{"X-User-ID", "*"}, []string{"path: holds an empty segment", "path: holds an encoded .", "path: holds a ;", "path: holds a ?", "X-User-ID: must be", "X-Account-ID: is missing", "X-Action: ", "body: must be empty"}},
	} {
		t.Run("400 "+name, func(t *testing.T) {
			r := callRaw(t, s.URL, "/api/v1/authorize/"+c.path, s.Checker, c.body, c.headers...)
			got := problems(t, r)
			if r.Status != 400 {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(got, func(p string) bool {
					return strings.HasPrefix(p, want) || strings.HasPrefix(want, "X-Action") && strings.HasPrefix(p, "X-Action: ")
				}) {
					t.Errorf("no %q in %q", want, got)
				}
			}
		})
	}
}

// callRaw is harness.Call with a target that goes out as it is.
func callRaw(t testing.TB, base, target, token, body string, headers ...string) harness.Reply {
	t.Helper()
	lines := []string{"Authorization: Bearer " + token}
	for i := 0; i+1 < len(headers); i += 2 {
		lines = append(lines, headers[i]+": "+headers[i+1])
	}
	a := harness.SendRaw(t, base, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: gateway\r\nContent-Length: %d\r\n%s\r\n%s", target, len(body), harness.CRLF(lines), body))
	return harness.Reply{Status: a.Status, Header: a.Header, Raw: []byte(a.Body)}
}

// TestAuthorizeRefusesPathsReadInTwoWays: 400 by the running program, and no decision in
// the log; its neighbours that are read in one way only are judged.
func TestAuthorizeRefusesPathsReadInTwoWays(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t))
	headers := []string{"X-User-ID", s.Admin, "X-Account-ID", s.Account, "X-Action", "project:instance:read"}
	prefix := "/api/v1/authorize/"
	before := len(s.Settled(t))
	for _, path := range []string{
		"/", "//", "/x", "//host/x", "x/", "x//y", ".", "..", "x/..", "../x", "x/./y", "%2e", "%2E%2e", "x/.%2e/y", "x/%2E./y", "x%2fy", "x%2Fy", "%252e%252e", "x%252fy", "%25", `x\y`, "x%5cy", "x%5Cy",
		"x;y", "x;/y", "..;/x", "x%3by", "x%3B", "x#y", "x?", "x?y", "x%00", "x%0a", "x%0D%0Ay", "x%09", "x%7f", "x%C2%85", "%61", "acc%6funts/a", "x%2Dy", "%7e", "x%", "x%2", "x%zz", "x%u002e", "x%C0%AE", "x%c0%af", "x%E0%80%AE",
		"x%FF", "x%ED%A0%80", "x%EF%BC%8E%EF%BC%8E/y", "x%EF%BC%8Fy", "x%E2%80%A5", "x\u00e9", "x[0]", "x|y", "x{y}", strings.Repeat("a", 2049), strings.Repeat("a/", 1024) + "b",
		"accounts", "Accounts/a", "accounts/a/Projects/p", "projects/p/accounts/a", "x/projects/p", "projects/p/projects/q", "API/v1/accounts/a", "accounts/a%20b/x",
	} {
		if r := callRaw(t, s.URL, prefix+path, s.Checker, "", headers...); r.Status != 400 || len(problems(t, r)) == 0 {
			t.Errorf("%.60q: %d %s", path, r.Status, r.Raw)
		}
	}
	s.CheckNothingAllowed(t, before)
	for _, path := range []string{"x", "a%20b", "caf%C3%A9", "a:b@c", "a!$&'()*+,=b", "...", "projects", "accounts/" + s.Account, "api/v1/projects/" + s.Project + "/x", strings.Repeat("a", 2048)} {
		if r := callRaw(t, s.URL, prefix+path, s.Checker, "", headers...); r.Status != 200 || !strings.Contains(string(r.Raw), `"allowed":true`) {
			t.Errorf("%.60q: %d %s", path, r.Status, r.Raw)
		}
	}
}

// TestAuthorizeStatusOfADenyCanBe403, with the same body; an allow stays 200.
func TestAuthorizeStatusOfADenyCanBe403(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--deny-status", "403"))
	path := "projects/" + s.Project + "/x"
	r := e3(t, s, s.Checker, "user-nobody-v1", s.Account, "project:instance:read", path)
	if r.Status != 403 || r.Body["allowed"] != false || len(r.Body) != 2 || r.Header.Get("X-Decision-ID") == "" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if r := e3(t, s, s.Checker, s.Admin, s.Account, "project:instance:read", path); r.Status != 200 || r.Body["allowed"] != true {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

// TestListenersKeepTheirPaths: probes are on the private listener alone, the API on the
// public ones alone.
func TestListenersKeepTheirPaths(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--pprof"))
	private := []string{"/healthz/live", "/healthz/ready", "/api/v1/healthz/live", "/api/v1/healthz/ready", "/metrics", "/debug/pprof/", "/debug/pprof/heap"}
	for _, path := range private {
		if r := harness.Call(t, "GET", s.HealthURL+path, "", ""); r.Status != 200 {
			t.Errorf("%s on the private listener: %d %s", path, r.Status, r.Raw)
		}
		for _, listener := range []string{s.URL, s.UsersURL} {
			for _, agent := range []string{"tests", "kube-probe/1.30", "ELB-HealthChecker/2.0", "GoogleHC/1.0"} {
				if r := harness.Call(t, "GET", listener+path, s.Checker, "", "User-Agent", agent); r.Status != 404 {
					t.Errorf("%s on a public listener: %d %s", path, r.Status, r.Raw)
				}
			}
		}
	}
	for _, path := range []string{"/api/v1/authorize/x", "/api/v1/accounts", "/api/v1/accounts/" + s.Account, "/api/v1/accounts/" + s.Account + "/roles", "/.well-known/jwks.json", "/" + url.PathEscape("api/v1/accounts")} {
		for _, method := range []string{"GET", "POST"} {
			r := harness.Call(t, method, s.HealthURL+path, s.Platform, "", "X-User-ID", s.Admin, "X-Account-ID", s.Account, "X-Action", "project:x:read")
			if r.Status != 404 {
				t.Errorf("%s %s on the private listener: %d %s", method, path, r.Status, r.Raw)
			}
		}
	}
}

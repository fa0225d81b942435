package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// sessionUser is the user of a service's own sign-in.
func sessionUser(r *http.Request) (string, error) {
	if user := r.Header.Get("Session"); user != "" {
		return user, nil
	}
	return "", client.ErrNoUser
}

// served is a small service, and sends it a request.
func served(t *testing.T, h http.Handler) (send func(method, path string, headers ...string) (status int, body string)) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return func(method, path string, headers ...string) (int, string) {
		t.Helper()
		request := must.Get(http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody))(t)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response := must.Get(http.DefaultClient.Do(request))(t)
		defer func() { _ = response.Body.Close() }()
		body := must.Get(io.ReadAll(response.Body))(t)
		return response.StatusCode, string(body)
	}
}

// TestGoServiceIsGuarded: by the catalogue and by a function, what the gateway allows arrives, and nothing
// else does; nothing at all while the gateway is gone.
func TestGoServiceIsGuarded(t *testing.T) {
	t.Parallel()
	a := withReader(t, harness.StartTeam(t, withApp(t)...))
	c := clientOf(t, a.Gateway, a.Checker)
	arrived := 0
	widgets := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if arrived++; !client.DecisionOf(r.Context()).Allowed {
			t.Error("it arrives without the decision")
		}
		_, _ = io.WriteString(w, "widgets")
	})
	path := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project
	byFunction := client.ByAction(sessionUser, func(r *http.Request) (action, path string, err error) {
		verb := map[string]string{"GET": "read", "POST": "create"}[r.Method]
		return "project:security_group:" + verb, r.URL.EscapedPath()[1:], nil
	})
	for way, ask := range map[string]client.Ask{"by catalogue": client.ByCatalogue(sessionUser), "by function": byFunction} {
		send := served(t, c.Guard(ask, widgets))
		for name, k := range map[string]struct {
			method, path, user string
			want               int
		}{
			"a reader reads":     {"GET", path + "/security-groups", a.Bob, 200},
			"a reader creates":   {"POST", path + "/security-groups", a.Bob, 403},
			"an admin creates":   {"POST", path + "/security-groups", a.Admin, 200},
			"a stranger reads":   {"GET", path + "/security-groups", a.Carol, 403},
			"an unknown user":    {"GET", path + "/security-groups", "user-unknown-v1", 403},
			"an ill-formed user": {"GET", path + "/security-groups", "a b", 403},
			"no credential":      {"GET", path + "/security-groups", "", 401},
			"an odd path":        {"GET", path + "/security-groups/%2e%2e/x", a.Admin, 403},
			"another account":    {"GET", "/api/v1/accounts/acct-other-v1/projects/" + a.Project + "/security-groups", a.Admin, 403},
		} {
			before := arrived
			var headers []string
			if k.user != "" {
				headers = []string{"Session", k.user}
			}
			status, body := send(k.method, k.path, headers...)
			if passed := arrived - before; status != k.want || (passed == 1) != (k.want == 200) {
				t.Errorf("%s, %s: %d %s, want %d; %d arrived", way, name, status, body, k.want, passed)
			}
		}
	}
	send := served(t, c.Guard(client.ByCatalogue(sessionUser), widgets))
	if status, body := send("GET", path+"/nothing/of/the/catalogue", "Session", a.Admin); status != 403 {
		t.Errorf("no row: %d %s", status, body)
	}
	a.Kill(t)
	before := arrived
	if status, body := send("GET", path+"/security-groups", "Session", a.Admin); status != 503 || arrived != before {
		t.Errorf("while the gateway is gone: %d %s", status, body)
	}
}

// TestGoServiceBehindAProxy takes the word that /forward-auth gave for the call, and for no other one.
func TestGoServiceBehindAProxy(t *testing.T) {
	t.Parallel()
	a := app(t)
	behind := func(audience string) func(method, path string, headers ...string) (int, string) {
		v, err := client.NewVerifier(client.VerifierOptions{KeysURL: a.HealthURL + "/assertions/jwks.json", Audience: audience, Action: means("project:instance:read")})
		if err != nil {
			t.Fatal(err)
		}
		return served(t, v.Behind(1<<10, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller, _ := client.CallerOf(r.Context())
			_, _ = io.WriteString(w, caller.ID+" "+caller.Account+" "+caller.Action+" "+caller.Kind)
		})))
	}
	send, other := behind("https://app.example"), behind("app.example")
	uri := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project + "/i?a=b&c=%2e"
	said := harness.Call(t, "GET", a.URL+"/forward-auth", a.UserToken(t, a.Bob), "", "X-Forwarded-Host", "app.example", "X-Original-Method", "GET", "X-Original-URI", uri)
	word, id := said.Header.Get(client.AssertionHeader), said.Header.Get("X-Request-ID")
	if said.Status != 200 || word == "" {
		t.Fatalf("%d %s %v", said.Status, said.Raw, said.Header)
	}
	headers := []string{client.AssertionHeader, word, "X-Request-ID", id}
	if status, body := send("GET", uri, headers...); status != 200 || body != a.Bob+" "+a.Account+" project:instance:read user" {
		t.Errorf("%d %s", status, body)
	}
	for name, call := range map[string]func() (int, string){
		"no assertion": func() (int, string) { return send("GET", uri, "X-Request-ID", id) },
		"a changed one": func() (int, string) {
			return send("GET", uri, client.AssertionHeader, harness.OtherEnding(word), "X-Request-ID", id)
		},
		"another request":  func() (int, string) { return send("GET", uri, client.AssertionHeader, word, "X-Request-ID", id+"x") },
		"another method":   func() (int, string) { return send("PUT", uri, headers...) },
		"another query":    func() (int, string) { return send("GET", uri+"&c=1", headers...) },
		"another audience": func() (int, string) { return other("GET", uri, headers...) },
		"an idempotency key": func() (int, string) {
			return send("GET", uri, append([]string{"Idempotency-Key", "k"}, headers...)...)
		},
	} {
		if status, body := call(); status != 401 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

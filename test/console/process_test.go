package console_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestAConsoleOfItsOwn guarantees that a console in a process of its own signs people in by the gateway's links, shows
// the same pages, and tells operators of the installation.
func TestAConsoleOfItsOwn(t *testing.T) {
	t.Parallel()
	g := demo(t)
	apart := g.StartConsole(t, "--console-operators", alice)
	b := newBrowser(t, apart)
	if got := b.get("/people"); got.Status != http.StatusSeeOther {
		t.Fatalf("without a session: %d", got.Status)
	}
	code := newCode(t, g, alice)
	if got := b.redeem(code); got.Status != http.StatusOK {
		t.Fatalf("%d\n%s", got.Status, got.Body)
	}
	for path, text := range map[string]string{
		"/": "Overview", "/people": bob, "/people/" + bob: bob, "/ask?user=" + bob + "&action=project%3Ainstance%3Aread": "Bob", "/policy": "authz/decision.rego",
	} {
		if got := b.get(path); got.Status != http.StatusOK || !got.says(text) {
			t.Errorf("%s: %d, without %q", path, got.Status, text)
		}
	}
	again := newBrowser(t, apart)
	if got := again.redeem(code); got.Status != http.StatusForbidden || !got.says("This link has been used") || again.session() != nil {
		t.Errorf("a link twice: %d\n%s", got.Status, got.Body)
	}
	// The session is the installation's: the gateway's own console takes its cookie, and both end with a sign-out.
	inside := newBrowser(t, g)
	if got := inside.withSession(b.session()).get("/people"); got.Status != http.StatusOK {
		t.Errorf("at the gateway's own console: %d", got.Status)
	}
	if got := b.post("/logout", "all", "1"); got.Status != http.StatusOK {
		t.Errorf("sign-out: %d", got.Status)
	}
	if got := inside.get("/people"); got.Status != http.StatusSeeOther {
		t.Errorf("after the sign-out: %d", got.Status)
	}
	for _, secret := range []string{code, inside.session().Value} {
		if strings.Contains(apart.Stderr.String(), secret) {
			t.Error("the log has a secret")
		}
	}
}

// TestASuspendedUserIsOutOnBothProcesses guarantees that from the answer to the suspension on no console takes a cookie
// from before.
func TestASuspendedUserIsOutOnBothProcesses(t *testing.T) {
	t.Parallel()
	g := demo(t)
	apart := g.StartConsole(t)
	atGateway := signIn(t, g, bob)
	atConsole := newBrowser(t, apart).withSession(atGateway.session())
	for name, b := range map[string]*browser{"gateway": atGateway, "console": atConsole} {
		if got := b.get("/ask"); got.Status != http.StatusOK {
			t.Fatalf("%s: %d", name, got.Status)
		}
	}
	if r := harness.Call(t, "PUT", g.URL+"/api/v1/users/"+bob, g.UserToken(t, alice), `{"status": "SUSPENDED"}`, "x-account-id", demoAccount); r.Status != http.StatusOK {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	for name, b := range map[string]*browser{"gateway": atGateway, "console": atConsole} {
		for _, path := range []string{"/ask", "/decisions/new"} {
			if got := b.get(path); got.Status != http.StatusSeeOther && got.Status != http.StatusUnauthorized || got.says(bob) {
				t.Errorf("%s%s: %d", name, path, got.Status)
			}
		}
	}
}

// TestAConsoleWithoutItsGateway guarantees that nobody is signed in or out by a gateway without an answer, or with a
// refusal of the console's token. Every page then says 503.
func TestAConsoleWithoutItsGateway(t *testing.T) {
	t.Parallel()
	g := demo(t)
	token := harness.TempFile(t, "token", g.ServiceToken(t, resources.ServiceScopeConsole))
	apart := g.StartConsole(t, "--token-file", token)
	session := signIn(t, g, alice).session()
	b := newBrowser(t, apart).withSession(session)
	if got := b.get("/people"); got.Status != http.StatusOK {
		t.Fatalf("with a token: %d", got.Status)
	}
	harness.WriteFile(t, token, g.ServiceToken(t, resources.ServiceScopeCheck))
	wantNoConsole(t, b, newCode(t, g, alice))
	harness.WriteFile(t, token, g.ServiceToken(t, resources.ServiceScopeConsole))
	if got := b.get("/people"); got.Status != http.StatusOK {
		t.Errorf("with a token again: %d", got.Status)
	}
	g.Kill(t)
	wantNoConsole(t, b, "a code")
	apart.Terminate(t)
	if code := apart.Ended(t); code != 0 {
		t.Errorf("it ended with %d\n%s", code, apart.Stderr)
	}
}

// wantNoConsole holds the console to 503 for a session and for a sign-in.
func wantNoConsole(t *testing.T, b *browser, code string) {
	t.Helper()
	if got := b.get("/people"); got.Status != http.StatusServiceUnavailable || got.says(bob) {
		t.Errorf("a page: %d", got.Status)
	}
	other := newBrowserAt(t, b.base)
	if got := other.redeem(code); got.Status != http.StatusServiceUnavailable || other.session() != nil {
		t.Errorf("a sign-in: %d", got.Status)
	}
}

// TestWhoKeepsSessions guarantees that only a service with the scope reads or begins sessions on the private listener.
func TestWhoKeepsSessions(t *testing.T) {
	t.Parallel()
	g := demo(t)
	secret := signIn(t, g, alice).session().Value
	service := g.ServiceToken(t, resources.ServiceScopeConsole)
	for _, c := range []struct {
		name, do, token, body string
		status                int
	}{
		{"no token", "read", "", `{"secret":"` + secret + `"}`, http.StatusUnauthorized},
		{"a user", "read", g.UserToken(t, alice), `{"secret":"` + secret + `"}`, http.StatusForbidden},
		{"another scope", "read", g.ServiceToken(t, resources.ServiceScopeAdmin), `{"secret":"` + secret + `"}`, http.StatusForbidden},
		{"no such operation", "all", service, `{}`, http.StatusNotFound},
		{"no JSON", "read", service, `secret`, http.StatusBadRequest},
		{"too much", "read", service, `{"secret":"` + strings.Repeat("a", 70_000) + `"}`, http.StatusBadRequest},
		{"no session", "read", service, `{"secret":"` + strings.Repeat("a", 43) + `"}`, http.StatusOK},
		{"a token that is not one", "begin", service, `{"token":"abc"}`, http.StatusOK},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.HealthURL+"/console/sessions/"+c.do, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		got := newBrowserAt(t, g.HealthURL).plain(req)
		if got.Status != c.status || got.says(`"session"`) || got.says(`"secret"`) || got.says(secret) {
			t.Errorf("%s: %d %s", c.name, got.Status, got.Body)
		}
	}
}

// TestAllSettingsOfAConsoleAreChecked guarantees exit 2 and one line with every problem.
func TestAllSettingsOfAConsoleAreChecked(t *testing.T) {
	t.Parallel()
	o := harness.Command(t, nil, "console", "--url", "gateway.example", "--private-url", "http://a/?x", "--console-listen", "0.0.0.0:9003")
	harness.WantOneLine(t, o, "--url", "--private-url", "--console-url", "3 problems")
	o = harness.Command(t, nil, "console", "--url", "http://127.0.0.1:1", "--private-url", "http://127.0.0.1:2", "--console-listen", "127.0.0.1:0",
		"--token-file", filepath.Join(t.TempDir(), "none"))
	harness.WantOneLine(t, o, "the token for sessions")
	o = harness.Command(t, nil, "console", "--url", "http://127.0.0.1:1", "--private-url", "http://127.0.0.1:2", "--console-listen", "127.0.0.1:0",
		"--token-file", harness.TempFile(t, "token", "\n"))
	harness.WantOneLine(t, o, "the token for sessions", "is empty")
	o = harness.Command(t, nil, "console", "--url", "http://127.0.0.1:1")
	harness.WantOneLine(t, o, "--private-url", "--console-listen")
	o = harness.Command(t, []string{"PORTCULLIS_URL=http://127.0.0.1:1"}, "console")
	harness.WantOneLine(t, o, "--private-url", "--console-listen")
	if o = harness.Command(t, nil, "console"); o.Code != 0 || !strings.Contains(o.Stdout, "console link") {
		t.Errorf("without settings: exit %d, %s%s", o.Code, o.Stdout, o.Stderr)
	}
}

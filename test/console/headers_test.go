package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// always are the headers of every answer.
var always = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types console",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"X-Content-Type-Options":       "nosniff",
}

// wantHeaders holds an answer to the headers that every one has.
func wantHeaders(t testing.TB, req *http.Request, a answer) {
	t.Helper()
	for name, want := range always {
		if got := a.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s %s: %d, %s is %q", req.Method, req.URL, a.Status, name, got)
		}
	}
	if a.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: %d without X-Request-ID", req.Method, req.URL, a.Status)
	}
	referrer := map[bool]string{false: "same-origin", true: "strict-origin"}[hasCode(req.URL.Path)]
	if got := a.Header.Get("Referrer-Policy"); got != referrer && a.Status < http.StatusBadRequest {
		t.Errorf("%s %s: Referrer-Policy %q, want %q", req.Method, req.URL, got, referrer)
	}
	cache := "no-store"
	if strings.HasPrefix(req.URL.Path, "/assets/") && a.Status == http.StatusOK {
		cache = "public, max-age=31536000, immutable"
	}
	if got := a.Header.Get("Cache-Control"); got != cache {
		t.Errorf("%s %s: %d, Cache-Control %q, want %q", req.Method, req.URL, a.Status, got, cache)
	}
	for _, text := range []string{"Server", "X-Powered-By", "Access-Control-Allow-Origin"} {
		if got := a.Header.Get(text); got != "" {
			t.Errorf("%s %s: %s: %s", req.Method, req.URL, text, got)
		}
	}
}

// hasCode reports whether the address of a page has a code.
func hasCode(path string) bool { return path == "/login/link" || path == "/login/callback" }

// TestRefusalsHaveEveryHeader guarantees that an answer to anything odd is a page with the headers of section 3; do
// checks them.
func TestRefusalsHaveEveryHeader(t *testing.T) {
	t.Parallel()
	g := demo(t)
	stranger, user := newBrowser(t, g), signIn(t, g, alice)
	for _, c := range []struct {
		name, method, path string
		b                  *browser
		want               int
	}{
		{"no page", "GET", "/no-such-page", user, http.StatusNotFound},
		{"no page, no session", "GET", "/no-such-page", stranger, http.StatusSeeOther},
		{"no asset", "GET", "/assets/none.css", stranger, http.StatusNotFound},
		{"above the assets", "GET", "/assets/%2e%2e%2ftemplates%2flogin.html", stranger, http.StatusNotFound},
		{"a folder", "GET", "/assets/", stranger, http.StatusSeeOther},
		{"not clean", "GET", "//evil.example/x", stranger, http.StatusTemporaryRedirect},
		{"PUT", "PUT", "/", user, http.StatusMethodNotAllowed},
		{"DELETE", "DELETE", "/ask", user, http.StatusMethodNotAllowed},
		{"OPTIONS", "OPTIONS", "/", user, http.StatusMethodNotAllowed},
		{"TRACE", "TRACE", "/", user, http.StatusMethodNotAllowed},
		{"HEAD", "HEAD", "/login", stranger, http.StatusOK},
		{"the API's path", "GET", "/api/v1/accounts/" + demoAccount, stranger, http.StatusSeeOther},
		{"a bad request of the API", "GET", "/ask?user=%00&action=x&project=..", user, http.StatusBadRequest},
	} {
		got := c.b.do(c.b.request(c.method, c.path, nil))
		if got.Status != c.want {
			t.Errorf("%s: %d, want %d\n%s", c.name, got.Status, c.want, got.Body)
		}
		if place := got.Header.Get("Location"); strings.HasPrefix(place, "//") || strings.Contains(place, "://") {
			t.Errorf("%s: leads to %s", c.name, place)
		}
	}
}

// TestAnotherHostIsMisdirected guarantees 421 before the cookie, the form or the page are looked at.
func TestAnotherHostIsMisdirected(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := signIn(t, g, alice)
	for _, host := range []string{"evil.example", "localhost:9003", strings.TrimPrefix(b.base, "http://") + ".", "127.0.0.1"} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			req := b.request(method, "/", nil)
			req.Host = host
			if got := b.do(req); got.Status != http.StatusMisdirectedRequest || got.says("Alice") {
				t.Errorf("%s with Host %s: %d", method, host, got.Status)
			}
		}
	}
}

// TestAFormOfAnotherSiteIsRefused guarantees that a change needs a page of the console as its origin.
func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := signIn(t, g, alice)
	for name, header := range map[string]map[string]string{
		"neither":                  {},
		"a foreign origin":         {"Origin": "https://evil.example"},
		"an opaque origin":         {"Origin": "null"},
		"another port":             {"Origin": "http://127.0.0.1:1"},
		"another scheme":           {"Origin": strings.Replace(b.base, "http:", "https:", 1)},
		"same site":                {"Sec-Fetch-Site": "same-site"},
		"cross site":               {"Sec-Fetch-Site": "cross-site"},
		"cross site, own origin":   {"Sec-Fetch-Site": "cross-site", "Origin": b.base},
		"same origin, foreign one": {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
		"same origin, null":        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
	} {
		for _, path := range []string{"/logout", "/theme", "/apply", "/login/link", "/no-such-page"} {
			req := b.request(http.MethodPost, path, form("theme", "dark"))
			for key, value := range header {
				req.Header.Set(key, value)
			}
			if got := b.do(req); got.Status != http.StatusForbidden {
				t.Errorf("%s: %s is answered %d", name, path, got.Status)
			}
		}
	}
	if got := b.get("/ask"); got.Status != http.StatusOK {
		t.Errorf("a forged sign-out ended the session: %d", got.Status)
	}
	if got := b.post("/theme", "theme", "dark", "return_to", "/ask"); got.Status != http.StatusSeeOther || got.Header.Get("Location") != "/ask" {
		t.Errorf("an own form: %d to %s", got.Status, got.Header.Get("Location"))
	}
}

// TestAFormIsBounded guarantees that a form is refused if it is too large, and does not pass for a shorter one.
func TestAFormIsBounded(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := signIn(t, g, alice)
	for name, fields := range map[string][]string{"too large": {"pad", strings.Repeat("x", 1<<20), "theme", "dark"}} {
		if got := b.post("/theme", fields...); got.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	if got := b.do(b.request("GET", "/ask?user=%zz", nil)); got.Status != http.StatusBadRequest {
		t.Errorf("a query that can't be read: %d", got.Status)
	}
}

// TestReturnToLeadsToOwnPages guarantees that no form sends a browser elsewhere.
func TestReturnToLeadsToOwnPages(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := newBrowser(t, g)
	for _, target := range []string{
		"https://evil.example", "//evil.example", `/\evil.example`, `\/evil.example`, "/\t/evil.example", "/%0d%0aSet-Cookie:x=y\r\nX: y",
		"javascript:alert(1)", "", "evil", "/login", "/login/callback?code=x", " //evil.example", "/" + strings.Repeat("a", 3000),
	} {
		if got := b.post("/theme", "theme", "light", "return_to", target); got.Header.Get("Location") != "/" {
			t.Errorf("%q leads to %q", target, got.Header.Get("Location"))
		}
	}
	for target, want := range map[string]string{"/ask?user=a&action=b": "/ask?user=a&action=b", "/who": "/who"} {
		if got := b.post("/theme", "theme", "light", "return_to", target); got.Header.Get("Location") != want {
			t.Errorf("%q leads to %q", target, got.Header.Get("Location"))
		}
	}
}

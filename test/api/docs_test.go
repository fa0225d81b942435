package api_test

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/contract"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// loads is what the page asks the browser to fetch.
var loads = regexp.MustCompile(`(?:src|href)="([^"]*)"`)

// TestPageLoadsNothingFromElsewhere guarantees that anybody gets the page and all its parts from
// the gateway. Its content policy takes nothing else, and no script in the page.
func TestPageLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	page := harness.Call(t, "GET", g.URL+"/docs", "", "")
	wantPage(t, "/docs", page, "text/html")
	if bytes.Contains(page.Raw, []byte("<script>")) || bytes.Contains(page.Raw, []byte("style=")) {
		t.Errorf("a script or a style in the page itself: %s", page.Raw)
	}
	scripts := loads.FindAllSubmatch(page.Raw, -1)
	if len(scripts) < 5 {
		t.Fatalf("the page loads %d files: %s", len(scripts), page.Raw)
	}
	kinds := map[string]string{".js": "text/javascript", ".css": "text/css", ".png": "image/png", ".json": "application/json"}
	for _, m := range scripts {
		name := string(m[1])
		if strings.Contains(name, ":") || strings.HasPrefix(name, "/") {
			t.Errorf("the page loads %s from elsewhere", name)
			continue
		}
		r := harness.Call(t, "GET", g.URL+"/"+name, "", "")
		wantPage(t, name, r, kinds[name[strings.LastIndex(name, "."):]])
		if len(r.Raw) == 0 || strings.HasPrefix(string(r.Raw), "\x1f\x8b") {
			t.Errorf("%s: %d bytes, or packed ones", name, len(r.Raw))
		}
	}
}

// wantPage compares an answer with a page's file and its headers for browsers.
func wantPage(t testing.TB, page string, r harness.Reply, kind string) {
	t.Helper()
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Status != 200 || err != nil || got != kind {
		t.Errorf("%s: %d %q, want 200 %s", page, r.Status, r.Header.Get("Content-Type"), kind)
	}
	policy := map[string]string{}
	for part := range strings.SplitSeq(r.Header.Get("Content-Security-Policy"), "; ") {
		name, value, _ := strings.Cut(part, " ")
		policy[name] = value
	}
	for name, want := range map[string]string{
		"default-src": "'self'", "img-src": "'self' data:", "object-src": "'none'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
	} {
		if policy[name] != want {
			t.Errorf("%s: the policy has %s %q, want %q", page, name, policy[name], want)
		}
	}
	if len(policy) != 6 {
		t.Errorf("%s: the policy %v", page, policy)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
		if r.Header.Get(name) != want {
			t.Errorf("%s: %s %q", page, name, r.Header.Get(name))
		}
	}
}

// TestPageHasNoOtherFiles: 404 for another name, in the shape of everything else, and 400
// for what two servers could read differently.
func TestPageHasNoOtherFiles(t *testing.T) {
	t.Parallel()
	g := harness.Shared(t)
	for path, want := range map[string]int{"/docs/index.html": 404, "/docs/swagger-ui.js": 404, "/docs/start.js/x": 404, "/docs/": 404, "/docs/..": 400, "/docs/%2e%2e": 400, "/docs?x=1": 400} {
		r := callRawGet(t, g, path)
		if code := harness.At(r.Body, "error", "code"); r.Status != want || code != map[int]string{404: "NOT_FOUND", 400: "BAD_REQUEST"}[want] {
			t.Errorf("%s: %d %s", path, r.Status, r.Raw)
		}
	}
}

func callRawGet(t testing.TB, g *harness.Gateway, target string) harness.Reply {
	t.Helper()
	a := harness.SendRaw(t, g.URL, "GET "+target+" HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n")
	r := harness.Reply{Status: a.Status, Header: a.Header, Raw: []byte(a.Body)}
	if v, err := contract.Decoded(r.Raw); err == nil {
		r.Body, _ = v.(map[string]any)
	}
	return r
}

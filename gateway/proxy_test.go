package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// upstream is another process, with the requests that reached it.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
	body []string
	peer map[string]bool
}

func newUpstream(t testing.TB, answer http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{peer: map[string]bool{}}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.seen, u.body = append(u.seen, r), append(u.body, string(body))
		u.peer[r.RemoteAddr] = true
		u.mu.Unlock()
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// behind is an edge in front of it, at a path of the upstream.
func (u *upstream) behind(t testing.TB, path string, change ...func(*gateway.Config)) *edge {
	t.Helper()
	base := must.Get(url.Parse(u.URL + path))(t)
	return start(t, append([]func(*gateway.Config){func(c *gateway.Config) { c.Upstreams = map[string]*url.URL{"things": base} }}, change...)...)
}

// vouched takes the n-th request's assertion off it, and gives what it says of it.
func (u *upstream) vouched(t testing.TB, n int) assertion.Statement {
	t.Helper()
	r := u.seen[n]
	tokens := r.Header.Values(assertion.Header)
	r.Header.Del(assertion.Header)
	said, err := assertions().Verify(strings.Join(tokens, ","), assertion.Statement{
		Upstream: "things", RequestID: r.Header.Get("X-Request-ID"), Method: r.Method, Target: r.RequestURI, Body: []byte(u.body[n]),
		IdempotencyKey: r.Header.Get("Idempotency-Key"),
	})
	if err != nil {
		t.Error(err)
	}
	return said
}

const things = "/api/v1/projects/proj-a-v1/things/"

// TestUpstreamGetsPathAndQueryAsTheyWereSent, byte for byte, in origin form.
func TestUpstreamGetsPathAndQueryAsTheyWereSent(t *testing.T) {
	u := newUpstream(t, nil)
	for base, prefix := range map[string]string{"": "", "/": "", "/base": "/base", "/base/": "/base", "/b%20c": "/b%20c"} {
		l := u.behind(t, base).dial(t)
		for _, target := range []string{
			things + "a", things + "a/b/c", things + "a%20b", things + "caf%c3%a9", things + "a:b@c", things + "a!$&'()*+,=", things + "%3F%23", things + "...",
			things + "a?", things + "a?x=1&x=2&&y", things + "a?x=%2F..%2e%00%zz", things + "a?b?c/../d", things + "a?//x", things + "a?x=[1]|{}",
		} {
			if r := l.send(t, request("GET", target, "", bearer)); r.Status != 200 {
				t.Errorf("%s: %d %s", target, r.Status, r.Body)
				continue
			}
			got := u.seen[len(u.seen)-1]
			if got.RequestURI != prefix+target || got.Method != "GET" || got.Host != strings.TrimPrefix(u.URL, "http://") {
				t.Errorf("%s %s at %s arrived of %s", got.Method, got.RequestURI, got.Host, prefix+target)
			}
		}
	}
}

// TestRefusedCallsDoNotReachTheUpstream.
func TestRefusedCallsDoNotReachTheUpstream(t *testing.T) {
	u := newUpstream(t, nil)
	denied := u.behind(t, "", func(c *gateway.Config) { c.Judge.Pin = policy{allow, deny}.pin() })
	if r := denied.send(t, request("GET", things+"a", "", bearer)); r.Status != 403 {
		t.Errorf("denied: %d", r.Status)
	}
	e := u.behind(t, "")
	for _, rest := range []string{"", "a/", "a//b", "../b", "a/%2e%2e/b", "a%2fb", "a%2Fb", "a;b", `a\b`, "a%5cb", "a%00", "%61", "a/projects/p", "a/Accounts/x", "a#b", "a?b#c", "a%C0%AE"} {
		if r := e.send(t, request("GET", things+rest, "", bearer)); r.Status != 400 {
			t.Errorf("%q: %d %s", rest, r.Status, r.Body)
		}
	}
	for want, raw := range map[int]string{
		401: request("GET", things+"a", ""), 405: request("PUT", things+"a", "{}", bearer, jsonType), 413: request("POST", things+"a", strings.Repeat(" ", bodyLimit+1), bearer, jsonType),
		415: request("POST", things+"a", "x=y", bearer), 400: request("GET", things+"a", "", bearer, "X-User-ID: a", "X_User_ID: b"), 404: request("GET", "/api/v1/projects/p/thingsx/a", "", bearer),
	} {
		if r := e.send(t, raw); r.Status != want {
			t.Errorf("%d %s, want %d", r.Status, r.Body, want)
		}
	}
	if len(u.seen) != 0 {
		t.Errorf("%d calls arrived, the first %s", len(u.seen), u.seen[0].RequestURI)
	}
}

// TestUpstreamTrustsTheIdentityHeaders: they are the gateway's, and no header of the
// caller arrives that claims an identity or carries a credential, under any name.
func TestUpstreamTrustsTheIdentityHeaders(t *testing.T) {
	u := newUpstream(t, nil)
	e := u.behind(t, "")
	forged := []string{
		"X-User-ID: mallory", "X-Account-ID: acct-mallory", "X-Action: project:thing:delete", "X-API-Key: " + secret, "Cookie: session=" + secret, "X-Principal-Kind: service",
		"X-Forwarded-User: mallory", "X-Forwarded-Email: m@x", "X-Forwarded-Groups: admin", "X-Forwarded-Preferred-Username: m", "X-Remote-User: mallory", "Remote-User: mallory", "X-Auth-Request-User: m",
		"X-Authenticated-User: m", "X-Identity-Status: Confirmed", "X-Is-Admin-Project: true", "X-Roles: admin", "X-User-Domain-Id: m", "X-Domain-Id: m", "X-System-Scope: all",
		"X-Forwarded-For: 10.0.0.1", "X-Real-IP: 10.0.0.1", "Forwarded: for=10.0.0.1", "X-Forwarded-Host: m", "X-Original-URL: /m", "X-HTTP-Method-Override: DELETE", "Proxy-Authorization: Basic x", "TE: trailers",
		"X-Consistency: strict", "X-Decision-ID: m", "Range: bytes=0-1", "Accept-Encoding: gzip", "Upgrade: h2c", "HTTP2-Settings: x", "X_Forwarded_User: m", "X_Principal_Kind: service",
		assertion.Header + ": forged", "Connection: X-User-ID, X-Account-ID, X-Request-ID, close",
	}
	r := e.send(t, request("GET", things+"a", "", append(forged, bearer, "X-Request-ID: rid-1", "Accept: a/b", "Accept: c/d", "If-Match: \"e\"", "Traceparent: 00-1", "User-Agent: tests/1")...))
	if r.Status != 200 || len(u.seen) != 1 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	want := http.Header{
		"X-User-Id": {"user-alice-v1"}, "X-Principal-Kind": {"user"}, "X-Account-Id": {"acct-a-v1"}, "X-Action": {"project:thing:read"}, "X-Request-Id": {"rid-1"},
		"Accept": {"a/b", "c/d"}, "If-Match": {`"e"`}, "Traceparent": {"00-1"}, "User-Agent": {"tests/1"},
	}
	if said := u.vouched(t, 0); said.Principal.ID != "user-alice-v1" || said.Account != "acct-a-v1" || said.Action != "project:thing:read" {
		t.Errorf("vouched for %+v", said)
	}
	if got := u.seen[0].Header; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("arrived %v\nwant    %v", got, want)
	}
	// A public route has no caller: none of the names may be the caller's own then.
	if r := e.send(t, request("GET", "/open/x", "", append(forged[3:], "X-User-ID: mallory", bearer)...)); r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	if said := u.vouched(t, 1); said.Principal.Kind != resources.PrincipalNone || said.Principal.ID != "" {
		t.Errorf("vouched for %+v", said)
	}
	for name := range u.seen[1].Header {
		if name != "X-Request-Id" {
			t.Errorf("a public call arrived with %s: %v", name, u.seen[1].Header[name])
		}
	}
}

// TestUpstreamGetsTheBody, whole and framed by the gateway.
func TestUpstreamGetsTheBody(t *testing.T) {
	u := newUpstream(t, nil)
	e := u.behind(t, "")
	body := `{"v":"` + strings.Repeat("x", 40000) + `"}`
	for name, raw := range map[string]string{
		"announced": request("POST", things+"a", body, bearer, jsonType, "Idempotency-Key: k1"),
		"chunked":   chunked(things+"a", body, "0\r\n\r\n", bearer, jsonType, "Idempotency-Key: k1"),
	} {
		r := e.send(t, raw)
		last := len(u.seen) - 1
		if r.Status != 200 || last < 0 || u.body[last] != body || u.seen[last].ContentLength != int64(len(body)) {
			t.Fatalf("%s: %d %s", name, r.Status, r.Body)
		}
		if h := u.seen[last].Header; h.Get("Content-Type") != "application/json" || h.Get("Idempotency-Key") != "k1" || h.Get("X-Action") != "project:thing:create" {
			t.Errorf("%s: %v", name, h)
		}
	}
	if r := e.send(t, request("POST", things+"a", "", bearer)); r.Status != 200 || u.body[len(u.body)-1] != "" || u.seen[len(u.seen)-1].ContentLength != 0 {
		t.Errorf("no body: %d", r.Status)
	}
}

// TestUpstreamThatIsDownIsA503 guarantees a Retry-After, and no word of the upstream's address.
func TestUpstreamThatIsDownIsA503(t *testing.T) {
	u := newUpstream(t, nil)
	address := strings.TrimPrefix(u.URL, "http://")
	e := u.behind(t, "")
	u.Close()
	l := e.dial(t)
	r := l.send(t, request("GET", things+"a?q="+secret, "", bearer))
	if r.Status != 503 || r.Header.Get("Retry-After") != "1" || strings.Contains(r.Body, address) || !strings.Contains(r.Body, "UNAVAILABLE") {
		t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
	}
	if rec := e.last(t); rec.Err == nil || strings.Contains(rec.Err.Error(), secret) || rec.Status != 503 {
		t.Errorf("record %+v", rec)
	}
	if r := l.send(t, question("x")); r.Status != 200 {
		t.Errorf("the next request on the connection: %d", r.Status)
	}
}

// TestSlowUpstreamIsCutAtTheDeadline, before and within its answer.
func TestSlowUpstreamIsCutAtTheDeadline(t *testing.T) {
	release := make(chan struct{})
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/begins") {
			_, _ = io.WriteString(w, "the beginning")
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	for limit := 50 * time.Millisecond; ; limit *= 10 {
		e := u.behind(t, "", func(c *gateway.Config) { c.Limits.Upstream = limit })
		if r := e.send(t, request("GET", things+"silent", "", bearer)); r.Status != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		l := e.dial(t)
		must.Get(io.WriteString(l, request("GET", things+"begins", "", bearer)))(t)
		resp := must.Get(http.ReadResponse(l.r, nil))(t)
		body, err := io.ReadAll(resp.Body)
		if resp.StatusCode == 503 && limit < 5*time.Second {
			continue // on a busy machine it did not even begin in time
		}
		if err == nil || errors.Is(err, fasthttputil.ErrTimeout) {
			t.Errorf("an answer that was cut looks whole, or was not cut: %q %v", body, err)
		}
		return
	}
}

// TestAnAudienceTakesThePlaceOfTheUpstreamsName in the assertion of a proxied call.
func TestAnAudienceTakesThePlaceOfTheUpstreamsName(t *testing.T) {
	u := newUpstream(t, nil)
	e := u.behind(t, "", func(c *gateway.Config) {
		c.Catalogue[6].Audience, c.Catalogue[6].Host = "https://things.example", "things.example"
	})
	raw := "GET /api/v1/projects/proj-a-v1/things/x HTTP/1.1\r\nHost: Things.example\r\n" + bearer + "\r\n\r\n"
	if r := e.send(t, raw); r.Status != 200 || len(u.seen) != 1 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	r := u.seen[0]
	seen := assertion.Statement{RequestID: r.Header.Get("X-Request-ID"), Method: r.Method, Target: r.RequestURI}
	for audience, want := range map[string]bool{"https://things.example": true, "things": false} {
		seen.Upstream = audience
		if _, err := assertions().Verify(r.Header.Get(assertion.Header), seen); (err == nil) != want {
			t.Errorf("for %s: %v", audience, err)
		}
	}
}

package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestUpstreamsAnswerComesBackAsItIs guarantees the upstream's status, redirect and headers,
// without those of its connection and the gateway's own.
func TestUpstreamsAnswerComesBackAsItIs(t *testing.T) {
	status := 0
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Location": "http://elsewhere/x", "Content-Type": "text/plain", "ETag": `"e"`, "X-Own": "kept", "X-Request-ID": "the-upstreams", "Server": "secret/1.0", "Keep-Alive": "timeout=5",
			"Proxy-Authenticate": "Basic", "Proxy-Connection": "close", "X-Hop": "dropped", "Upgrade": "h2c", "Te": "trailers", "Trailer": "X-Late",
		} {
			h.Set(name, value)
		}
		h["Set-Cookie"] = []string{"a=1; Path=/", "b=2; HttpOnly"}
		h.Add("Connection", "X-Hop, keep-alive")
		w.WriteHeader(status)
		if status != 204 && status != 304 {
			_, _ = fmt.Fprintf(w, "status %d", status)
		}
	})
	l := u.behind(t, "").dial(t)
	for _, status = range []int{200, 201, 202, 204, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 429, 500, 502, 503, 599} {
		r := l.send(t, request("GET", things+"a", "", bearer, "X-Request-ID: mine"))
		want := fmt.Sprintf("status %d", status)
		if status == 204 || status == 304 {
			want = ""
		}
		if r.Status != status || r.Body != want || r.Close {
			t.Errorf("%d %q close=%v, want %d", r.Status, r.Body, r.Close, status)
		}
		if got := r.Header["X-Request-Id"]; len(got) != 1 || got[0] != "mine" {
			t.Errorf("%d: X-Request-ID %v", status, got)
		}
		for name, want := range map[string]string{"Location": "http://elsewhere/x", "Etag": `"e"`, "X-Own": "kept", "Set-Cookie": "a=1; Path=/|b=2; HttpOnly"} {
			if got := strings.Join(r.Header[name], "|"); got != want {
				t.Errorf("%d: %s is %q", status, name, got)
			}
		}
		for _, name := range []string{"Server", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "X-Hop", "Upgrade", "Te", "Trailer", "Connection"} {
			if got := r.Header[name]; len(got) > 0 {
				t.Errorf("%d: %s came back as %v", status, name, got)
			}
		}
	}
	if len(u.peer) != 1 {
		t.Errorf("%d connections to the upstream for calls one after another", len(u.peer))
	}
}

// TestLargeAnswerArrivesWhole, of known and of unknown length, one after another.
func TestLargeAnswerArrivesWhole(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MiB, over the body limit
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/known") {
			w.Header().Set("Content-Length", fmt.Sprint(len(large)))
		}
		for part := large; len(part) > 0; part = part[1<<16:] {
			_, _ = w.Write(part[:1<<16])
			w.(http.Flusher).Flush()
		}
	})
	l := u.behind(t, "").dial(t)
	for _, rest := range []string{"known", "streamed", "known"} {
		if r := l.send(t, request("GET", things+rest, "", bearer)); r.Status != 200 || r.Body != string(large) {
			t.Errorf("%s: %d, %d bytes", rest, r.Status, len(r.Body))
		}
	}
	if len(u.peer) != 1 {
		t.Errorf("%d connections to the upstream", len(u.peer))
	}
}

// rawUpstream answers every request with these bytes and closes.
func rawUpstream(t *testing.T, answer string) *url.URL {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.WriteString(c, answer)
				}
			}()
		}
	}()
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// TestWhatBelongsToAnUpstreamsConnectionEndsThere guarantees that the client gets no header of the
// upstream's connection: not at its end, not in another spelling, and not behind an interim answer.
func TestWhatBelongsToAnUpstreamsConnectionEndsThere(t *testing.T) {
	const rest = "X-Hop: dropped\r\nX-Late: dropped\r\nX-Own: kept\r\nContent-Length: 2\r\n\r\nab"
	for name, answer := range map[string]string{
		"close first":           "HTTP/1.1 200 OK\r\nConnection: close, X-Hop, x-late\r\n" + rest,
		"close last":            "HTTP/1.1 200 OK\r\nconnection: x-hop,X-LATE , Close\r\n" + rest,
		"two lines":             "HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nConnection: close\r\nConnection: X-Late\r\n" + rest,
		"after what is interim": "HTTP/1.1 103 Early Hints\r\nConnection: X-Own\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close, X-Hop, X-Late\r\n" + rest,
		"lines that end in LF":  strings.ReplaceAll("HTTP/1.1 200 OK\r\nConnection: close, X-Hop, X-Late\r\n"+rest, "\r\n", "\n"),
		"kept alive":            "HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive, X-Late\r\n" + rest,
		"HTTP/1.0":              "HTTP/1.0 200 OK\r\nConnection: X-Hop, X-Late\r\n" + rest,
		"behind a long header":  "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("x", 20<<10) + "\r\nConnection: close, X-Hop, X-Late\r\n" + rest,
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, func(c *gateway.Config) { c.Upstreams["things"] = rawUpstream(t, answer) })
			r := e.send(t, request("GET", things+"a", "", bearer))
			if r.Status != 200 || r.Body != "ab" || r.Header.Get("X-Own") != "kept" || r.Header["X-Hop"] != nil || r.Header["X-Late"] != nil {
				t.Errorf("%d %q %v", r.Status, r.Body, r.Header)
			}
		})
	}
}

// TestEachAnswerOfAnUpstreamsConnectionIsHeard: what one names is not dropped from the next.
func TestEachAnswerOfAnUpstreamsConnectionIsHeard(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-A", "1")
		w.Header().Set("X-B", "1")
		if name := r.URL.Query().Get("hop"); name != "" {
			w.Header().Set("Connection", name)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 10<<10))
	})
	l := u.behind(t, "").dial(t) // the gateway has done with an answer before it reads the next request
	for _, hop := range []string{"X-A", "X-B", "", "X-A"} {
		r := l.send(t, request("GET", things+"a?hop="+hop, "", bearer))
		if r.Status != 200 || len(r.Body) != 10<<10 || (r.Header["X-A"] == nil) != (hop == "X-A") || (r.Header["X-B"] == nil) != (hop == "X-B") {
			t.Errorf("%s: %d %v", hop, r.Status, r.Header)
		}
	}
	if len(u.peer) != 1 {
		t.Errorf("%d connections to the upstream", len(u.peer))
	}
}

// TestUpstreamIsReachedByTLS, and heard there, too.
func TestUpstreamIsReachedByTLS(t *testing.T) {
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close, X-Hop")
		w.Header().Set("X-Hop", "dropped")
		_, _ = io.WriteString(w, "ab")
	}))
	defer up.Close()
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	must.Do(t, os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: up.Certificate().Raw}), 0o600))
	t.Setenv("SSL_CERT_FILE", trusted)
	base, _ := url.Parse(up.URL)
	e := start(t, func(c *gateway.Config) { c.Upstreams["things"] = base })
	for range 2 {
		if r := e.send(t, request("GET", things+"a", "", bearer)); r.Status != 200 || r.Body != "ab" || r.Header["X-Hop"] != nil {
			t.Errorf("%d %q %v: %v", r.Status, r.Body, r.Header, e.last(t).Err)
		}
	}
}

// TestUpstreamCannotSpeakForTheGateway guarantees that the edge drops the headers between gateways
// and upstreams, those with a caller, and malformed ones.
func TestUpstreamCannotSpeakForTheGateway(t *testing.T) {
	for _, line := range []string{
		"X-Portcullis-Assertion: a", "x-portcullis-assertion: a", "X_Portcullis_Assertion: a", "X-Portcullis-Assertion-Refused: 1", "X-Portcullis-Other: a", "X-User-ID: mallory", "X_User_ID: mallory", "X-Account-ID: a",
		"X-Action: a:b:c", "X-Principal-Kind: service", "Authorization: Bearer a", "X-API-Key: k", "X-Decision-ID: d", "X_Request_ID: r", "Transfer_Encoding: chunked", "Content_Length: 1",
		"X Own: a", "X-(Own): a", "X-Own\x00: a", "X-Own/: a", "X-\u00e9: a", "X-Odd: a\x00b", "X-Odd: a\x1b[2Jb", "X-Odd: a\rb", "X-Odd: \x7f",
	} {
		e := start(t, func(c *gateway.Config) {
			c.Upstreams["things"] = rawUpstream(t, "HTTP/1.1 200 OK\r\n"+line+"\r\nX-Own: kept\r\nContent-Length: 2\r\n\r\nab")
		})
		l := e.dial(t)
		must.Get(io.WriteString(l, request("GET", things+"a", "", bearer, "Connection: close")))(t)
		raw, _ := io.ReadAll(l.r)
		name, _, _ := strings.Cut(strings.ToLower(line), ":")
		head, _, _ := strings.Cut(strings.ToLower(string(raw)), "\r\n\r\n")
		switch taken := strings.HasPrefix(head, "http/1.1 200 "); {
		case !taken && !strings.HasPrefix(head, "http/1.1 503 "): // the client may refuse it as a whole
			t.Errorf("%q: %q", line, raw)
		case strings.Contains(head, "\n"+name+":") && name != "x-decision-id", taken && !strings.Contains(head, "\nx-own: kept"):
			t.Errorf("%q came back: %q", line, raw)
		}
	}
}

// TestUpstreamThatSpeaksNonsenseIsA503, and one that switches protocols unasked too.
func TestUpstreamThatSpeaksNonsenseIsA503(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing": "", "no HTTP": "hello\r\n\r\n", "bad header": "HTTP/1.1 200 OK\r\nA B\r\n\r\n", "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"switch": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, func(c *gateway.Config) { c.Upstreams["things"] = rawUpstream(t, answer) })
			l := e.dial(t)
			if r := l.send(t, request("GET", things+"a", "", bearer)); r.Status != 503 || r.Header.Get("Retry-After") == "" {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			if r := l.send(t, question("x")); r.Status != 200 {
				t.Errorf("the next request on the connection: %d", r.Status)
			}
		})
	}
}

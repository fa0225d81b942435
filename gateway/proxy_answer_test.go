package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
)

// TestUpstreamsAnswerComesBackAsItIs: statuses, redirects and headers, but for those
// that belong to one connection and those that are the gateway's.
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

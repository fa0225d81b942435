package gateway_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// FuzzPath guarantees that any path is refused or reaches policy byte for byte.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"a", "accounts/acct-a-v1/projects/proj-a-v1/x/y", "a/../b", "a%2fb", "a;b", "a//b", "", "%E2%80%A4", "a%20b", "\x00", "a?b"} {
		f.Add([]byte(p))
	}
	var seen *resources.Question
	e := start(f, func(c *gateway.Config) {
		c.Judge.Pin = policy{func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			seen = &q
			return allow(ctx, q)
		}, allow}.pin()
	})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := string(raw)
		if strings.Contains(p, "\n") || len(p) >= 8000 { // no path then
			return
		}
		problems := route.PathProblems(p)
		target, _ := route.ParseTarget(p)
		seen = nil
		switch r := e.send(t, question(p)); {
		case r.Status == 200 && seen == nil:
			t.Fatal("allowed without a question")
		case seen != nil && (len(problems) > 0 || r.Status != 200):
			t.Fatalf("%q was judged with %d, problems %q", p, r.Status, problems)
		case seen != nil && seen.Target != target:
			t.Fatalf("%q was judged as %+v", p, seen.Target)
		}
	})
}

// FuzzHeaders holds the framing against another reader of HTTP: what is taken, it reads
// too, as the same request.
func FuzzHeaders(f *testing.F) {
	const line = "POST /x HTTP/1.1\r\n"
	for _, head := range []string{
		"Host: h\r\n", "Host: h\r\nContent-Length: 5\r\n", "Host: h\r\nTransfer-Encoding: chunked\r\n", "Host: a\r\nHost: b\r\n",
		"Host: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Host: h\r\n X: folded\r\n", "Host: h\nX: y\r\n", "Host : h\r\n",
		"Host: h\r\nX: a\x00b\r\n", "Host: h\r\nContent_Length: 5\r\n", "Host: h\r\nTrailer: X-User-ID\r\n", "Host: h\r\nX-User-ID:  a \r\n", "",
	} {
		f.Add(line + head + "\r\n")
	}
	f.Add("GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n")
	f.Add("GET / HTTP/1.0\r\nHost: h\r\n\r\n")
	f.Fuzz(func(t *testing.T, head string) {
		h, err := gateway.ScanHeaders(head)
		if h == nil || err != nil {
			return
		}
		if _, err := url.ParseRequestURI(string(h.RequestURI())); err != nil {
			return // the path has its own rules
		}
		if strings.ContainsAny(string(h.Host()), "/ \\@?#") {
			return // the edge has no use for a host's name, the other reader does
		}
		req, err := http.ReadRequest(bufio.NewReaderSize(strings.NewReader(head), 64<<10))
		if err != nil {
			t.Fatalf("taken, but net/http says %v: %q", err, head)
		}
		switch {
		case req.Method != string(h.Method()), req.RequestURI != string(h.RequestURI()), req.Proto != string(h.Protocol()):
			t.Fatalf("%s %s %s is read otherwise in %q", req.Method, req.RequestURI, req.Proto, head)
		case req.RequestURI[0] != '/':
			t.Fatalf("a target that is no path: %q", head)
		case req.Host != string(h.Host()):
			t.Fatalf("host %q or %q: %q", req.Host, h.Host(), head)
		case slices.Contains(req.TransferEncoding, "chunked") != (h.ContentLength() == -1):
			t.Fatalf("chunked to one, not to the other: %q", head)
		case h.ContentLength() >= 0 && req.ContentLength != int64(h.ContentLength()):
			t.Fatalf("length %d or %d: %q", req.ContentLength, h.ContentLength(), head)
		case len(req.Trailer) > 0:
			t.Fatalf("a trailer: %q", head)
		}
	})
}

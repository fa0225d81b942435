package gateway_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// place writes a target as the path that names it, without api/v1/.
func place(t resources.Target) string {
	var parts []string
	if t.AccountID != "" {
		parts = append(parts, "accounts", t.AccountID)
	}
	if t.ProjectID != "" {
		parts = append(parts, "projects", t.ProjectID)
	}
	if t.Rest != "" {
		parts = append(parts, t.Rest)
	}
	return strings.Join(parts, "/")
}

func withoutVersion(p string) string {
	if p == "api/v1" {
		return ""
	}
	return strings.TrimPrefix(p, "api/v1/")
}

// normalised lists what common servers and libraries make of a relative path; the
// reading of a path that is taken must be the same in all of them.
func normalised(t *testing.T, p string) map[string]string {
	t.Helper()
	u, err := url.Parse("http://host/" + p)
	if err != nil {
		t.Fatalf("%q is taken, and no URL: %v", p, err)
	}
	relative, err := url.Parse("/" + p)
	if err != nil || relative.Host != "" || relative.RawQuery != "" || relative.Fragment != "" {
		t.Fatalf("%q is taken, and no path: %+v %v", p, relative, err)
	}
	return map[string]string{
		"path.Clean": path.Clean("/" + p), "url.EscapedPath": u.EscapedPath(), "url.JoinPath": u.JoinPath().EscapedPath(),
		"url.ResolveReference": u.ResolveReference(relative).EscapedPath(),
		"backslashes":          strings.ReplaceAll("/"+p, `\`, "/"),
	}
}

func FuzzPath(f *testing.F) {
	for _, paths := range refusedPaths {
		for _, p := range paths {
			f.Add([]byte(p))
		}
	}
	for _, p := range acceptedPaths {
		f.Add([]byte(p))
	}
	var seen *resources.Question
	e := start(f, func(c *gateway.Config) {
		c.Policy = policy{func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			seen = &q
			return allow(ctx, q)
		}, allow}
	})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := string(raw)
		problems := gateway.PathProblems(p)
		if !strings.Contains(p, "\n") && len(p) < 8000 { // a line break ends the request line: no path then
			seen = nil
			switch r := e.send(t, question(p)); {
			case r.Status == 200 && seen == nil:
				t.Fatal("allowed without a question")
			case seen != nil && (len(problems) > 0 || r.Status != 200):
				t.Fatalf("%q was judged with %d, problems %q", p, r.Status, problems)
			case seen != nil && place(seen.Target) != withoutVersion(p):
				t.Fatalf("%q was judged as %+v", p, seen.Target)
			}
		}
		if len(problems) > 0 {
			return
		}
		for name, got := range normalised(t, p) {
			if got != "/"+p {
				t.Errorf("%s makes %q of %q", name, got, "/"+p)
			}
		}
		once, err := url.PathUnescape(p)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := url.PathUnescape(once); err != nil || twice != once {
			t.Errorf("decoding %q twice makes %q (%v)", p, twice, err)
		}
		if strings.Count(once, "/") != strings.Count(p, "/") || path.Clean("/"+once) != "/"+once || strings.ContainsAny(once, "\\;%\x00") {
			t.Errorf("%q decodes to %q", p, once)
		}
		for segment := range strings.SplitSeq(once, "/") {
			if s := strings.TrimSpace(segment); s == "." || s == ".." {
				t.Errorf("%q holds the segment %q", p, segment)
			}
		}
	})
}

func FuzzTarget(f *testing.F) {
	for _, p := range []string{"accounts/a/projects/p/x/y", "projects", "api/v1/projects/p", "accounts", "x/Projects/y", "account%C5%BF/a", "api/v1"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if len(gateway.PathProblems(p)) > 0 {
			return
		}
		target, problem := gateway.ParseTarget(p)
		if problem != "" {
			return
		}
		if place(target) != withoutVersion(p) {
			t.Fatalf("%q is taken as %+v", p, target)
		}
		decoded, _ := url.PathUnescape(target.Rest)
		for segment := range strings.SplitSeq(decoded, "/") {
			if decoded != "projects" && (strings.EqualFold(segment, "accounts") || strings.EqualFold(segment, "projects")) {
				t.Fatalf("%q names a second place: %+v", p, target)
			}
		}
		for _, id := range []string{target.AccountID, target.ProjectID} {
			if id != "" && !resources.ValidID(id) {
				t.Fatalf("%q names %q", p, id)
			}
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

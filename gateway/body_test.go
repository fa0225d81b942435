package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

const bodyLimit = 64 << 10

// chunked is a raw request whose body comes in one chunk; tail comes after it.
func chunked(target, body, tail string, headers ...string) string {
	head := request("POST", target, "", append(headers, "Transfer-Encoding: chunked")...)
	return head + fmt.Sprintf("%x\r\n%s\r\n", len(body), body) + tail
}

// TestBodyOverTheLimitIsRefused with 413, before it is asked who calls, and without
// waiting for the body; the connection is closed.
func TestBodyOverTheLimitIsRefused(t *testing.T) {
	const target = "/api/v1/accounts/acct-a-v1/roles"
	over := strings.Repeat(" ", bodyLimit+1)
	sizes := func(lines string) string {
		return request("POST", target, "", jsonType, "Transfer-Encoding: chunked") + lines
	}
	for name, raw := range map[string]string{
		"announced":                request("POST", target, over, jsonType),
		"announced and not sent":   strings.Replace(request("POST", target, over[:8<<10], jsonType), "8192", "9999999", 1),
		"chunked":                  chunked(target, over, "0\r\n\r\n", jsonType),
		"chunked without an end":   chunked(target, over, "", jsonType),
		"a chunk that never comes": sizes(fmt.Sprintf("%x\r\n", bodyLimit+1)),
		"the largest chunk":        sizes("ffffffffffffffff\r\n"),
		"one that begins":          sizes("FFFFFFFFFFFFFFFF;a=b\r\n {"),
		"a second chunk":           sizes(fmt.Sprintf("1\r\n \r\n%x\r\n", bodyLimit)),
		"a third, that overflows":  sizes("1\r\n \r\n2\r\n  \r\nfffffffffffffffe\r\n"),
		"of E3":                    request("POST", "/api/v1/authorize/x", over),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t).send(t, raw)
			if r.Status != 413 || !r.Close || !strings.Contains(r.Body, "PAYLOAD_TOO_LARGE") {
				t.Errorf("%d %s close=%v", r.Status, r.Body, r.Close)
			}
		})
	}
}

// TestBodyAtTheLimitIsTaken, and the connection goes on.
func TestBodyAtTheLimitIsTaken(t *testing.T) {
	var got int
	e := start(t, func(c *gateway.Config) {
		c.Handlers["access"]["create"] = func(_ context.Context, r *wire.Request) (wire.Response, error) {
			got = len(r.Body)
			return wire.OK(nil)
		}
	})
	l, full := e.dial(t), strings.Repeat(" ", bodyLimit)
	for name, raw := range map[string]string{
		"announced": request("POST", "/api/v1/accounts/acct-a-v1/roles", full, jsonType, bearer),
		"chunked":   chunked("/api/v1/accounts/acct-a-v1/roles", full, "0\r\n\r\n", jsonType, bearer),
	} {
		if r := l.send(t, raw); r.Status != 200 || got != bodyLimit || r.Close {
			t.Errorf("%s: %d %d close=%v", name, r.Status, got, r.Close)
		}
	}
}

// TestBodyHidesNoSecondRequest guarantees that the rest of a refused request's body is never read
// as another request.
func TestBodyHidesNoSecondRequest(t *testing.T) {
	judged := 0
	e := start(t, func(c *gateway.Config) {
		c.Judge.Pin = policy{func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			judged++
			return allow(ctx, q)
		}, allow}.pin()
	})
	hidden := question("x")
	for name, raw := range map[string]string{
		"404":                     request("POST", "/nothing", strings.Repeat("x", 8<<10)+hidden),
		"404 short":               request("POST", "/nothing", hidden),
		"404 chunked":             chunked("/nothing", hidden, "0\r\n\r\n"),
		"405":                     request("PATCH", "/api/v1/accounts/acct-a-v1/roles", strings.Repeat("x", 8<<10)+hidden),
		"405 of an unknown verb":  request("FETCH", "/api/v1/accounts/acct-a-v1/roles", strings.Repeat("x", 8<<10)+hidden),
		"413":                     request("POST", "/api/v1/authorize/x", strings.Repeat("x", bodyLimit)+hidden),
		"413 chunked":             chunked("/api/v1/authorize/x", strings.Repeat("x", bodyLimit+1), hidden),
		"401":                     request("POST", "/api/v1/accounts/acct-a-v1/roles", strings.Repeat("x", 8<<10)+hidden, jsonType),
		"415":                     request("POST", "/api/v1/accounts/acct-a-v1/roles", strings.Repeat("x", 8<<10)+hidden, bearer),
		"400 of E3":               request("POST", "/api/v1/authorize/x", hidden, bearer),
		"200 of a GET":            request("GET", "/api/v1/accounts/acct-a-v1/roles", strings.Repeat("x", 8<<10)+hidden, bearer, jsonType),
		"length and coding":       request("POST", "/api/v1/authorize/x", "0\r\n\r\n"+hidden, bearer, "Transfer-Encoding: chunked"),
		"coding spelt with _":     request("POST", "/nothing", "", "Transfer_Encoding: chunked") + "0\r\n\r\n" + hidden,
		"length spelt with _":     request("POST", "/nothing", "", fmt.Sprintf("Content_Length: %d", len(hidden))) + hidden,
		"identity coding":         request("POST", "/nothing", "", "Transfer-Encoding: identity") + hidden,
		"chunk that does not end": request("POST", "/api/v1/authorize/x", "", bearer, "Transfer-Encoding: chunked") + "5\r\nhello0\r\n\r\n" + hidden,
		"chunk size too large":    request("POST", "/api/v1/authorize/x", "", bearer, "Transfer-Encoding: chunked") + "ffffffffffffffffff\r\n" + hidden,
		"chunk size negative":     request("POST", "/api/v1/authorize/x", "", bearer, "Transfer-Encoding: chunked") + "-1\r\n" + hidden,
		"chunk line ends in LF":   request("POST", "/api/v1/authorize/x", "", bearer, "Transfer-Encoding: chunked") + "5\nhello\r\n0\r\n\r\n" + hidden,
	} {
		t.Run(name, func(t *testing.T) {
			judged = 0
			l := e.dial(t)
			// What is answered next is the next request, or nothing.
			if r := l.send(t, raw); !r.Close {
				next := l.send(t, request("GET", "/", "", "X-Request-ID: the-next"))
				if next.Header.Get("X-Request-ID") != "the-next" {
					t.Errorf("an answer to what was hidden: %d %s", next.Status, next.Body)
				}
			}
			if judged != 0 {
				t.Error("the hidden request was judged")
			}
		})
	}
}

// TestBodyThatBreaksOffIsRefused guarantees that a part of a body does not count as one.
func TestBodyThatBreaksOffIsRefused(t *testing.T) {
	called := false
	e := start(t, func(c *gateway.Config) {
		c.Handlers["access"]["create"] = func(context.Context, *wire.Request) (wire.Response, error) {
			called = true
			return wire.OK(nil)
		}
	})
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- e.Listen(listener) }()
	t.Cleanup(func() { _ = listener.Close(); <-served })
	const target = "/api/v1/accounts/acct-a-v1/roles"
	whole := strings.Repeat(" ", 30000)
	for name, raw := range map[string]string{
		"announced, a small part":  strings.TrimSuffix(request("POST", target, whole, jsonType, bearer), whole[100:]),
		"announced, a large part":  strings.TrimSuffix(request("POST", target, whole, jsonType, bearer), whole[20000:]),
		"announced, nothing":       strings.TrimSuffix(request("POST", target, whole, jsonType, bearer), whole),
		"chunked, within a chunk":  strings.TrimSuffix(chunked(target, whole, "", jsonType, bearer), whole[100:]+"\r\n"),
		"chunked, after a chunk":   chunked(target, whole, "", jsonType, bearer),
		"a trailer after the body": chunked(target, "{}", "0\r\nX-User-ID: user-mallory-v1\r\n\r\n", jsonType, bearer),
	} {
		t.Run(name, func(t *testing.T) {
			called = false
			c := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
			defer func() { _ = c.Close() }()
			must.Get(io.WriteString(c, raw))(t)
			_ = c.(*net.TCPConn).CloseWrite()
			answer, _ := io.ReadAll(c)
			if !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || called {
				t.Errorf("called=%v %.300s", called, answer)
			}
		})
	}
}

package peer_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// scripted is an upstream that records the bytes of each call and answers as the script does.
type scripted struct {
	net.Listener
	heads chan string
	// ended gets a value when a connection is at its end.
	ended chan time.Time
}

func script(t *testing.T, answer func(net.Conn)) *scripted {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &scripted{l, make(chan string, 16), make(chan time.Time, 16)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c, answer)
		}
	}()
	return s
}

func (s *scripted) serve(c net.Conn, answer func(net.Conn)) {
	defer func() { _ = c.Close() }()
	r, head := bufio.NewReader(c), ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		head += line
	}
	s.heads <- head
	go answer(c)
	_, _ = io.Copy(io.Discard, r)
	s.ended <- time.Now()
}

func (s *scripted) upstream(t *testing.T, path string, timeout time.Duration) *peer.Upstream {
	t.Helper()
	return peer.NewUpstream("tools", &url.URL{Scheme: "http", Host: s.Addr().String(), Path: path}, timeout, time.Minute, assertions(t))
}

// inMemory is a scripted upstream of one call over a connection in memory, and the gateway's side of it. In a bubble of
// synctest a busy machine takes no time of either.
func inMemory(t *testing.T, timeout time.Duration, answer func(net.Conn)) (*scripted, *peer.Upstream) {
	t.Helper()
	upstreamEnd, gatewayEnd := net.Pipe()
	s := &scripted{heads: make(chan string, 1), ended: make(chan time.Time, 1)}
	go s.serve(upstreamEnd, answer)
	t.Cleanup(func() { time.Sleep(time.Minute) }) // until the script has ended
	u := peer.NewUpstream("tools", &url.URL{Scheme: "http", Host: "tools.example"}, timeout, time.Minute, assertions(t))
	peer.ConnectBy(u, func(context.Context, string, string) (net.Conn, error) { return gatewayEnd, nil })
	return s, u
}

func say(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

const empty = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"

// caller is a statement of a call by a user.
func caller() assertion.Statement {
	return assertion.Statement{
		RequestID: "req-1", Method: "POST", Account: "acct-a-v1", Action: "project:x:read",
		Principal: resources.Principal{Kind: resources.PrincipalUser, ID: "user-a-v1", Credential: resources.CredentialToken},
	}
}

// TestAnUpstreamGetsTheHeadersOfMCP guarantees that it gets them. Of the caller it learns by the gateway's word
// alone.
func TestAnUpstreamGetsTheHeadersOfMCP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(file, []byte("of-the-file\n"), 0o600))
	all := http.Header{}
	passed := []string{"Accept", "Last-Event-ID", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Owner"}
	refused := []string{
		"Authorization", "Cookie", "X-Api-Key", "X-User-Id", "X-Account-Id", "X-Action", "X-Principal-Kind", "Accept-Encoding", "Connection",
		"Host", "Transfer-Encoding", "Te", "Mcp-Other", "X-Portcullis-Assertion", "Forwarded", "X-Forwarded-For", "Proxy-Authorization",
	}
	for _, name := range append(passed, refused...) {
		all.Set(name, "of-"+strings.ToLower(name))
	}
	for title, c := range map[string]struct {
		credential peer.Credential
		has, lacks []string
	}{
		"assertion": {peer.Credential{}, []string{"X-Portcullis-Assertion: ey", "X-User-Id: user-a-v1", "X-Account-Id: acct-a-v1"}, []string{"Authorization"}},
		"secret":    {peer.SecretIn(file), []string{"Authorization: Bearer of-the-file\r\n"}, []string{"X-Portcullis", "X-User-Id", "X-Account-Id", "X-Action", "X-Principal-Kind"}},
		"none":      {peer.NoCredential(), nil, []string{"Authorization", "X-Portcullis", "X-User-Id", "X-Account-Id", "X-Action", "X-Principal-Kind"}},
	} {
		t.Run(title, func(t *testing.T) {
			s := script(t, say(empty))
			call := peer.Call{Statement: caller(), Credential: c.credential, Header: all, Further: all}
			call.Body = []byte("{}")
			a := must.Get(s.upstream(t, "/base/mcp/", time.Minute).Pass(t.Context(), call))(t)
			_ = a.Body.Close()
			head := <-s.heads
			if !strings.HasPrefix(head, "POST /base/mcp/ HTTP/1.1\r\n") {
				t.Errorf("%.40q", head)
			}
			for _, name := range passed {
				c.has = append(c.has, http.CanonicalHeaderKey(name)+": of-"+strings.ToLower(name)+"\r\n")
			}
			for _, want := range append(c.has, "X-Request-Id: req-1\r\n", "Content-Length: 2\r\n") {
				if strings.Count(head, "\r\n"+want) != 1 {
					t.Errorf("%s is not there once: %s", want, head)
				}
			}
			for _, name := range refused {
				c.lacks = append(c.lacks, "of-"+strings.ToLower(name)+"\r\n")
			}
			for _, other := range append(c.lacks, "Accept-Encoding", "Cookie") {
				if strings.Contains(head, other) {
					t.Errorf("%s is there: %s", other, head)
				}
			}
		})
	}
}

// TestASecretMustBeOneWord guarantees that no call is made without it. A new one counts at once.
func TestASecretMustBeOneWord(t *testing.T) {
	s := script(t, say(empty))
	u, file := s.upstream(t, "", time.Minute), filepath.Join(t.TempDir(), "secret")
	for _, content := range []string{"-", "", " \n", "a b", "a\nb", "a\x00b", strings.Repeat("a", 9000)} {
		if content != "-" {
			must.Do(t, os.WriteFile(file, []byte(content), 0o600))
		}
		_, err := u.Pass(t.Context(), peer.Call{Statement: caller(), Credential: peer.SecretIn(file)})
		if !resources.IsKind(err, resources.KindUnavailable) || len(s.heads) > 0 {
			t.Errorf("%.10q: %v", content, err)
		}
	}
	must.Do(t, os.WriteFile(file, []byte("good"), 0o600))
	a := must.Get(u.Pass(t.Context(), peer.Call{Statement: caller(), Credential: peer.SecretIn(file)}))(t)
	_ = a.Body.Close()
	if head := <-s.heads; !strings.HasPrefix(head, "POST / HTTP/1.1\r\n") || !strings.Contains(head, "Bearer good\r\n") {
		t.Error(head)
	}
}

// TestOnlyAStreamMayBeSilent guarantees that the body of any other answer is cut after the upstream's time.
func TestOnlyAStreamMayBeSilent(t *testing.T) {
	const timeout = 100 * time.Millisecond
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, u := inMemory(t, timeout, func(c net.Conn) {
				say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\na")(c)
				time.Sleep(timeout + 1)
				say("b")(c)
				_ = c.Close()
			})
			a := must.Get(u.Pass(t.Context(), peer.Call{Statement: caller(), Silent: silent}))(t)
			body, err := io.ReadAll(a.Body)
			if silent && (err != nil || string(body) != "ab") || !silent && (err == nil || string(body) != "a") {
				t.Errorf("silent %t: %q %v", silent, body, err)
			}
			_ = a.Body.Close()
		})
	}
}

// TestTheHeadOfAnAnswerIsBounded guarantees the call's own bound, and the upstream's without one.
func TestTheHeadOfAnAnswerIsBounded(t *testing.T) {
	const timeout, after = 100 * time.Millisecond, 500 * time.Millisecond
	for head, answered := range map[time.Duration]bool{0: false, after - 1: false, after + 1: true} {
		synctest.Test(t, func(t *testing.T) {
			_, u := inMemory(t, timeout, func(c net.Conn) {
				time.Sleep(after)
				say(empty)(c)
			})
			a, err := u.Pass(t.Context(), peer.Call{Statement: caller(), Silent: true, Head: head})
			if answered != (err == nil) || err != nil && !resources.IsKind(err, resources.KindUnavailable) {
				t.Errorf("%s: %v", head, err)
			}
			if err == nil {
				_ = a.Body.Close()
			}
		})
	}
}

// TestTheEndOfTheContextEndsTheCall guarantees it before the head of the answer and behind it, while the upstream is
// silent.
func TestTheEndOfTheContextEndsTheCall(t *testing.T) {
	for _, head := range []string{"", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\na"} {
		synctest.Test(t, func(t *testing.T) {
			s, u := inMemory(t, time.Minute, say(head))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				a, err := u.Pass(ctx, peer.Call{Statement: caller(), Silent: true, Head: time.Hour})
				if err == nil {
					first := make([]byte, 1)
					_, _ = io.ReadFull(a.Body, first)
					done <- nil
					_, err = io.ReadAll(a.Body)
					_ = a.Body.Close()
				}
				done <- err
			}()
			<-s.heads
			if head != "" {
				<-done
			}
			began := time.Now()
			cancel()
			if err := <-done; err == nil {
				t.Error("the call went on")
			}
			if took := (<-s.ended).Sub(began); took > 0 {
				t.Error("the upstream knows it after", took)
			}
		})
	}
}

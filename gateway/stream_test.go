package gateway_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/test/must"
)

// soon is within how long the end of a client is noticed.
const soon = time.Second

// streamer is a door that answers with a stream.
type streamer struct {
	answer func(context.Context, doors.Call) (doors.Answer, error)
}

func (s streamer) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	return s.answer(ctx, c)
}

// content is a stream that a test writes. It counts how often it is closed.
type content struct {
	*io.PipeReader
	w      *io.PipeWriter
	closes atomic.Int32
	closed chan struct{}
}

func newContent() *content {
	c := &content{closed: make(chan struct{})}
	c.PipeReader, c.w = io.Pipe()
	return c
}

func (c *content) Close() error {
	if c.closes.Add(1) == 1 {
		close(c.closed)
	}
	return c.PipeReader.Close()
}

// ended waits for the end of the content, and finds that it was closed once.
func (c *content) ended(t *testing.T) {
	t.Helper()
	await(t, c.closed, "the stream is not closed")
	if n := c.closes.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

func await(t *testing.T, done <-chan struct{}, failure string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal(failure)
	}
}

// streaming is an edge on a socket whose door answers so.
func streaming(t *testing.T, answer func(context.Context, doors.Call) (doors.Answer, error), change ...func(*gateway.Config)) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String()}
	cfg := config()
	cfg.Doors["authorization.check"] = streamer{answer}
	for _, c := range change {
		c(&cfg)
	}
	if s.Edge, err = gateway.New(cfg); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Listen(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = s.Shutdown(ctx)
		<-done
	})
	return s
}

// events answers with a stream of events of unknown length.
func events(c io.ReadCloser) doors.Answer {
	return doors.Answer{Status: 200, Stream: c, Length: -1, Header: []doors.Header{{Name: "Content-Type", Value: "text/event-stream"}}}
}

// ask sends a request and reads the head of the answer.
func (s *served) ask(t *testing.T, raw string) (*link, *http.Response) {
	t.Helper()
	c := s.dial(t, "127.0.0.1")
	l := &link{c, bufio.NewReader(c)}
	must.Get(io.WriteString(l, raw))(t)
	return l, l.head(t)
}

func (l *link) head(t *testing.T) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(l.r, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	return resp
}

// TestEachReadOfAStreamReachesTheClientAtOnce guarantees it with a length and without one, and from the head on. The
// client gets the door's headers, and none that are a connection's or the gateway's own.
func TestEachReadOfAStreamReachesTheClientAtOnce(t *testing.T) {
	for title, length := range map[string]int64{"no length": -1, "a length": 6} {
		t.Run(title, func(t *testing.T) {
			c := newContent()
			s := streaming(t, func(context.Context, doors.Call) (doors.Answer, error) {
				a := events(c)
				a.Status, a.Length = 202, length
				a.Header = append(a.Header, doors.Header{Name: "Mcp-Session-Id", Value: "s-1"},
					doors.Header{Name: "Connection", Value: "close"}, doors.Header{Name: "Content-Length", Value: "1"},
					doors.Header{Name: "Transfer-Encoding", Value: "gzip"}, doors.Header{Name: "X-Request-ID", Value: "of the door"})
				return a, nil
			})
			l, resp := s.ask(t, question("x"))
			if h := resp.Header; resp.StatusCode != 202 || h.Get("Content-Type") != "text/event-stream" || h.Get("Mcp-Session-Id") != "s-1" ||
				resp.Close || resp.ContentLength != length || h.Get("X-Request-Id") == "of the door" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%d %v", resp.StatusCode, h)
			}
			for range 3 {
				_, _ = io.WriteString(c.w, "ab")
				var got [2]byte
				if _, err := io.ReadFull(resp.Body, got[:]); err != nil || string(got[:]) != "ab" {
					t.Fatal(string(got[:]), err)
				}
			}
			_ = c.w.Close()
			if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
				t.Errorf("%q %v", rest, err)
			}
			c.ended(t)
			if _, err := io.WriteString(l, request("POST", "/public", "")); err != nil || l.read(t).Status != 200 {
				t.Error("the next request has no answer", err)
			}
		})
	}
}

// TestAStreamHasNoMoreThanItsLength guarantees that the next answer follows. A short one is cut.
func TestAStreamHasNoMoreThanItsLength(t *testing.T) {
	for text, want := range map[string]string{"abcdef": "abcd", "ab": "unexpected EOF"} {
		s := streaming(t, func(context.Context, doors.Call) (doors.Answer, error) {
			return doors.Answer{Status: 200, Stream: io.NopCloser(strings.NewReader(text)), Length: 4}, nil
		})
		l, resp := s.ask(t, question("x")+request("POST", "/public", ""))
		got, err := io.ReadAll(resp.Body)
		if len(text) > 4 && l.head(t).StatusCode != 200 {
			t.Error("the next answer is another")
		}
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestASilentStreamOutlivesTheWriteTimeout guarantees that a client is cut for reading nothing, not the stream for its silence.
func TestASilentStreamOutlivesTheWriteTimeout(t *testing.T) {
	const patience = 200 * time.Millisecond
	c := newContent()
	s := streaming(t, func(context.Context, doors.Call) (doors.Answer, error) { return events(c), nil },
		func(cfg *gateway.Config) { cfg.Limits.Write, cfg.Limits.Handle = patience, patience })
	_, resp := s.ask(t, question("x"))
	<-time.After(3 * patience)
	go func() {
		_, _ = io.WriteString(c.w, "ab")
		for err := error(nil); err == nil; {
			_, err = c.w.Write(make([]byte, 64<<10))
		}
	}()
	var got [2]byte
	if _, err := io.ReadFull(resp.Body, got[:]); err != nil || string(got[:]) != "ab" {
		t.Fatal(string(got[:]), err)
	}
	c.ended(t) // nothing reads the rest
}

// TestTheEndOfAClientIsNoticed guarantees that the context ends while the upstream is silent, before the head of the
// answer and behind it, with TLS and without.
func TestTheEndOfAClientIsNoticed(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("TLS %t, head sent %t", secure, answered), func(t *testing.T) {
				c, opened, noticed := newContent(), make(chan struct{}), make(chan time.Time, 1)
				s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
					ctx, err := call.Streams.Open(true)
					close(opened)
					if err != nil || answered {
						context.AfterFunc(ctx, func() { noticed <- time.Now() })
						return events(c), err
					}
					<-ctx.Done()
					noticed <- time.Now()
					return doors.Answer{Stream: c}, errors.New("the client has gone")
				}, func(cfg *gateway.Config) {
					if secure {
						cfg.Certificates = testCertificates(t)
					}
				})
				conn := s.dial(t, "127.0.0.1")
				if secure {
					conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
				}
				_, _ = io.WriteString(conn, question("x"))
				await(t, opened, "no call")
				if answered {
					(&link{conn, bufio.NewReader(conn)}).head(t)
				}
				gone := time.Now()
				_ = conn.Close()
				c.ended(t)
				if took := (<-noticed).Sub(gone); took > soon {
					t.Error("noticed after", took)
				}
				waitFor(t, "the stream has its place still", func() bool { return s.Gates()["streams"].Inside() == 0 })
			})
		}
	}
}

// TestRequestsBehindAStreamAreKept guarantees that what a client sends ahead is read as it was sent, whether it comes
// with the request or later, in one piece or in many, and however the call is answered.
func TestRequestsBehindAStreamAreKept(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("TLS %t, streamed %t", secure, streamed), func(t *testing.T) {
				c, calls, end := newContent(), make(chan string, 3), make(chan struct{})
				s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
					calls <- string(call.Body)
					if call.Path != "first" {
						return doors.Answer{Status: 200, Body: []byte(`"` + call.Path + `"`)}, nil
					}
					if streamed {
						return events(c), nil
					}
					_, err := call.Streams.Open(false)
					<-end
					return doors.Answer{Status: 200, Body: []byte(`"first"`)}, err
				}, func(cfg *gateway.Config) {
					if secure {
						cfg.Certificates = testCertificates(t)
					}
				})
				conn := s.dial(t, "127.0.0.1")
				if secure {
					conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
				}
				l := &link{conn, bufio.NewReader(conn)}
				question := func(path, body string) string {
					return request("POST", "/api/v1/authorize/"+path, body, bearer, jsonType)
				}
				ahead := question("second", strings.Repeat("2", 3000)) + question("third", strings.Repeat("3", 8000))
				const along = 1000
				_, _ = io.WriteString(l, question("first", "1")+ahead[:along])
				<-calls
				for rest := ahead[along:]; rest != ""; {
					n := min(len(rest), 777)
					_, _ = io.WriteString(l, rest[:n])
					rest = rest[n:]
				}
				if streamed {
					_ = c.w.Close()
				}
				close(end)
				for _, want := range []string{"first", "second", "third"} {
					r := l.read(t)
					if r.Status != 200 || !streamed && r.Body != `"`+want+`"` {
						t.Errorf("%s: %d %s", want, r.Status, r.Body)
					}
				}
				if second, third := <-calls, <-calls; second != strings.Repeat("2", 3000) || third != strings.Repeat("3", 8000) {
					t.Errorf("%d and %d bytes", len(second), len(third))
				}
			})
		}
	}
}

// testCertificates are those of a server of this run.
func testCertificates(t *testing.T) *listen.Certificates {
	t.Helper()
	made := httptest.NewTLSServer(nil)
	made.Close()
	pair := made.TLS.Certificates[0]
	key := must.Get(x509.MarshalPKCS8PrivateKey(pair.PrivateKey))(t)
	dir := t.TempDir()
	files := listen.CertificateFiles{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem")}
	for file, block := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, files.Key: {Type: "PRIVATE KEY", Bytes: key},
	} {
		must.Do(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	return must.Get(listen.ReadCertificates(files, time.Now))(t)
}

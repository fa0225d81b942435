package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestTheEndOfAClientEndsTheUpstreamsCall guarantees it while the upstream is silent, before its answer and in its midst.
func TestTheEndOfAClientEndsTheUpstreamsCall(t *testing.T) {
	for _, answered := range []bool{false, true} {
		called, ended := make(chan struct{}), make(chan time.Time, 1)
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answered {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: 1\n\n")
				w.(http.Flusher).Flush()
			}
			close(called)
			<-r.Context().Done()
			ended <- time.Now()
		}))
		defer up.Close()
		base := must.Get(url.Parse(up.URL))(t)
		tools := peer.NewUpstream("tools", base, 10*time.Millisecond, time.Minute, assertions())
		s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
			ctx, err := call.Streams.Open(true)
			if err != nil {
				return doors.Answer{}, err
			}
			a, err := tools.Pass(ctx, peer.Call{Credential: peer.NoCredential(), Statement: assertion.Statement{Method: "GET"}, Head: time.Minute, Silent: true})
			if err != nil {
				return doors.Answer{}, err
			}
			return doors.Answer{Status: a.Status, Stream: a.Body, Length: a.Length, Header: []doors.Header{{Name: "Content-Type", Value: "text/event-stream"}}}, nil
		})
		c := s.dial(t, "127.0.0.1")
		_, _ = io.WriteString(c, question("x"))
		await(t, called, "no call")
		if answered {
			l := &link{c, bufio.NewReader(c)}
			first := make([]byte, len("data: 1\n\n"))
			if _, err := io.ReadFull(l.head(t).Body, first); err != nil || string(first) != "data: 1\n\n" {
				t.Errorf("%q %v", first, err)
			}
		}
		gone := time.Now()
		_ = c.Close()
		if took := (<-ended).Sub(gone); took > soon {
			t.Error("the upstream's call ended after", took)
		}
	}
}

// TestAStopEndsStreams guarantees that endless ones end at once and the others near the end of the time. Events end as
// a whole answer.
func TestAStopEndsStreams(t *testing.T) {
	for endless, drain := range map[bool]time.Duration{true: 20 * time.Second, false: 2 * time.Second} {
		c := newContent()
		s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
			_, err := call.Streams.Open(endless)
			return events(c), err
		})
		_, resp := s.ask(t, question("x"))
		ctx, cancel := context.WithTimeout(t.Context(), drain)
		defer cancel()
		began, stopped := time.Now(), make(chan error, 1)
		go func() { stopped <- s.Shutdown(ctx) }()
		if got, err := io.ReadAll(resp.Body); err != nil || len(got) > 0 {
			t.Errorf("endless %t: %q %v", endless, got, err)
		}
		if took := time.Since(began); endless && took > drain/4 || !endless && took < drain/4 {
			t.Errorf("endless %t: it ended after %s", endless, took)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		c.ended(t)
	}
}

// TestAStopCutsOtherContent guarantees that a client can't take what is not a stream of events for the whole of it.
func TestAStopCutsOtherContent(t *testing.T) {
	c := newContent()
	s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
		_, err := call.Streams.Open(true)
		return doors.Answer{Status: 200, Stream: c, Length: -1, Header: []doors.Header{{Name: "Content-Type", Value: "application/json"}}}, err
	})
	_, resp := s.ask(t, question("x"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	go func() { _ = s.Shutdown(ctx) }()
	if got, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%q is whole", got)
	}
}

// TestStreamsAreBounded guarantees the bounds in all and of one account, and that a stream takes no place from requests.
func TestStreamsAreBounded(t *testing.T) {
	var all sync.Map
	s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
		if call.Path == "plain" {
			return doors.Answer{Status: 200, Body: []byte("{}")}, nil
		}
		_, err := call.Streams.Open(true)
		c := newContent()
		all.Store(c, true)
		return events(c), err
	}, func(cfg *gateway.Config) {
		cfg.Authn = authn{anybody}
		cfg.Limits.Requests, cfg.Limits.Streams, cfg.Limits.StreamsPerAccount = 1, 4, 2
	})
	as := func(token, path string) string {
		return strings.Replace(question(path), bearer, "Authorization: Bearer "+token, 1)
	}
	for i, one := range []struct {
		token  string
		status int
	}{
		{"user-a-v1.acct-a-v1", 200},
		{"user-b-v1.acct-a-v1", 200},
		{"user-c-v1.acct-a-v1", 503},
		{"service-s", 200},
		{"user-d-v1.acct-b-v1", 200},
		{"user-e-v1.acct-c-v1", 503},
	} {
		if _, resp := s.ask(t, as(one.token, "x")); resp.StatusCode != one.status || one.status == 503 && resp.Header.Get("Retry-After") != "1" {
			t.Errorf("%d: %d %v", i, resp.StatusCode, resp.Header)
		}
	}
	if _, resp := s.ask(t, as("user-a-v1.acct-a-v1", "plain")); resp.StatusCode != 200 {
		t.Error("another request:", resp.StatusCode)
	}
	all.Range(func(c, _ any) bool { return c.(*content).w.Close() == nil })
	waitFor(t, "places are kept", func() bool { return s.Gates()["streams"].Inside() == 0 })
	all.Range(func(c, _ any) bool { c.(*content).ended(t); return true })
	for range 2 {
		if _, resp := s.ask(t, as("user-a-v1.acct-a-v1", "x")); resp.StatusCode != 200 {
			t.Error("afterwards:", resp.StatusCode)
		}
	}
}

// TestACallThatWaitsHoldsNoPlace among the requests under way, though its door has not answered yet.
func TestACallThatWaitsHoldsNoPlace(t *testing.T) {
	opened, end := make(chan struct{}), make(chan struct{})
	s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
		if call.Path == "plain" {
			return doors.Answer{Status: 200, Body: []byte("{}")}, nil
		}
		_, err := call.Streams.Open(false)
		close(opened)
		<-end
		return doors.Answer{Status: 200, Body: []byte("{}")}, err
	}, func(cfg *gateway.Config) { cfg.Limits.Requests = 1 })
	c := s.dial(t, "127.0.0.1")
	_, _ = io.WriteString(c, question("x"))
	await(t, opened, "no call")
	if _, resp := s.ask(t, question("plain")); resp.StatusCode != 200 {
		t.Error(resp.StatusCode)
	}
	close(end)
	if resp := (&link{c, bufio.NewReader(c)}).head(t); resp.StatusCode != 200 {
		t.Error(resp.StatusCode)
	}
}

// TestAClientOfHTTP10HasTheWholeStream, and no endless one.
func TestAClientOfHTTP10HasTheWholeStream(t *testing.T) {
	s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
		_, err := call.Streams.Open(call.Path == "endless")
		return events(io.NopCloser(strings.NewReader("data: 1\n\n"))), err
	})
	for path, want := range map[string]int{"x": 200, "endless": 503} {
		_, resp := s.ask(t, strings.Replace(question(path), "HTTP/1.1", "HTTP/1.0", 1))
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != want || resp.ContentLength != int64(len(body)) || want == 200 && string(body) != "data: 1\n\n" {
			t.Errorf("%s: %d %q %v", path, resp.StatusCode, body, err)
		}
	}
}

// panicking is a stream that panics.
type panicking struct {
	*content
	read, close bool
}

func (p panicking) Read(b []byte) (int, error) {
	if p.read {
		panic("reading")
	}
	return p.content.Read(b)
}

func (p panicking) Close() error {
	_ = p.content.Close()
	if p.close {
		panic("closing")
	}
	return nil
}

// TestAFailedStreamIsClosedOnce guarantees it after a panic in the stream or in the door, and beside an error.
func TestAFailedStreamIsClosedOnce(t *testing.T) {
	for title, fail := range map[string]func(*content) (doors.Answer, error){
		"a panic of its read": func(c *content) (doors.Answer, error) { return events(panicking{c, true, false}), nil },
		"a panic of its end":  func(c *content) (doors.Answer, error) { _ = c.w.Close(); return events(panicking{c, false, true}), nil },
		"an error beside it":  func(c *content) (doors.Answer, error) { return events(c), resources.Forbidden("No.") },
		"an error and a panic": func(c *content) (doors.Answer, error) {
			return events(panicking{c, false, true}), resources.Forbidden("No.")
		},
		"an error of its content": func(c *content) (doors.Answer, error) {
			_ = c.w.CloseWithError(errors.New("broken"))
			return events(c), nil
		},
	} {
		for _, opened := range []bool{false, true} {
			c := newContent()
			s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
				if opened {
					_, _ = call.Streams.Open(true)
				}
				return fail(c)
			})
			_, resp := s.ask(t, question("x"))
			_, _ = io.Copy(io.Discard, resp.Body)
			t.Log(title, opened)
			c.ended(t)
			waitFor(t, title+": the place is kept", func() bool { return s.Gates()["streams"].Inside() == 0 })
		}
	}
}

// TestADoorThatPanicsKeepsNoPlace among the streams.
func TestADoorThatPanicsKeepsNoPlace(t *testing.T) {
	s := streaming(t, func(_ context.Context, call doors.Call) (doors.Answer, error) {
		_, _ = call.Streams.Open(true)
		panic("a bug")
	})
	if _, resp := s.ask(t, question("x")); resp.StatusCode != 500 || s.Gates()["streams"].Inside() != 0 {
		t.Error(resp.StatusCode, s.Gates()["streams"].Inside())
	}
}

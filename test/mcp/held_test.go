package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// newStalling starts a server whose responses have nearly 4 MiB and no end, as JSON or as an event. Once done is closed, they
// end after "whole".
func newStalling(t *testing.T, media string) (url string, done chan struct{}) {
	t.Helper()
	begins := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 4<<20-200)
	if media == "text/event-stream" {
		begins = "data: " + begins
	}
	done = make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, begins)
		select {
		case <-done:
			_, _ = io.WriteString(w, `whole"}]}}`+"\n\n")
			return
		default:
		}
		_ = http.NewResponseController(w).Flush() // the client may have gone
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, done
}

// TestServersFillNoMemory guarantees that the gateway holds at most 64 MiB of responses for the callers of one account: 16 of
// these. The calls beyond are answered, and streams end. What the gateway has held is free once the callers have gone.
func TestServersFillNoMemory(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"application/json", "text/event-stream"} {
		url, done := newStalling(t, media)
		g := startOn(t, url, policiesWith(t, rows))
		token := tokenFor(t, g, reader, bothScopes)
		ctx, cancel := context.WithCancel(t.Context())
		var refused atomic.Int64
		var calls sync.WaitGroup
		for range 24 {
			calls.Go(func() {
				status, text := callWithin(ctx, g, token)
				if ctx.Err() == nil && (media != "application/json" || strings.Contains(text, "-32603")) && status == 200 {
					refused.Add(1)
				}
			})
		}
		harness.Soon(t, "the calls beyond 64 MiB are refused", func() bool { return refused.Load() >= 8 })
		time.Sleep(time.Second)
		if n := refused.Load(); n > 20 { // some more than 8 at the moment when all read
			t.Errorf("%s: %d of 24 are refused", media, n)
		}
		cancel()
		calls.Wait()
		close(done)
		harness.Soon(t, "the memory is free", func() bool {
			_, text := callWithin(t.Context(), g, token)
			return strings.Contains(text, "whole")
		})
	}
}

// callWithin calls a tool and returns the status and the text of the response, as far as it came.
func callWithin(ctx context.Context, g *harness.Gateway, token string) (status int, text string) {
	resp, err := post(ctx, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, fmt.Sprint(string(body), err)
}

// TestWaitingMessagesKeepNobodyOut guarantees that the messages of calls at a silent server do not use up --max-body-memory
// for everybody. One account has 64 MiB of them at most.
func TestWaitingMessagesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	got := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until its end
		got <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g := startOn(t, server.URL, policiesWith(t, rows), "--max-body-memory", "3MiB")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	token, large := tokenFor(t, g, reader, bothScopes), callWith("search_issues", `{"q":"`+strings.Repeat("x", 1<<20-300)+`"}`)
	answered := make(chan int, 100)
	send := func(ctx context.Context) {
		resp, err := post(ctx, g, path, token, large, modern("tools/call", "search_issues")...)
		if err != nil {
			return // the test has ended
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}
	for i := range 64 {
		go send(ctx)
		select {
		case <-got:
		case status := <-answered:
			t.Fatalf("call %d: %d", i, status)
		}
	}
	go send(ctx)
	if status := <-answered; status != 503 {
		t.Errorf("the next one: %d", status)
	}
	if r := authzen(t, g, "evaluation", g.UserToken(t, admin), rowQuestion(admin, places[2], "issues", "tool", "search_issues", "", nil)); r.Status != 200 {
		t.Errorf("somebody else: %d %s", r.Status, r.Raw)
	}
	cancel()
	harness.Soon(t, "the messages are forgotten", func() bool {
		go send(t.Context())
		select {
		case <-got:
			return true
		case <-answered:
			return false
		}
	})
}

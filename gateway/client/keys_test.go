package client_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/gateway/client/clienttest"
)

// hanging is a transport that can hang: each request then fails at the end of its time.
type hanging struct {
	hangs          atomic.Bool
	elapsed        func()
	asked, release chan struct{}
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if !h.hangs.Load() {
		return http.DefaultTransport.RoundTrip(r)
	}
	h.asked <- struct{}{}
	<-h.release
	h.elapsed()
	return nil, context.DeadlineExceeded
}

// TestKeysThatHangDelayOneRequest guarantees that known keys go on if the next fetch hangs until its time is over. One
// request waits for it; the others neither wait nor fetch for a while.
func TestKeysThatHangDelayOneRequest(t *testing.T) {
	g := clienttest.New(t)
	var later atomic.Int64
	begun := time.Now()
	now := func() time.Time { return begun.Add(time.Duration(later.Load())) }
	fetch := &hanging{elapsed: func() { later.Add(int64(client.DefaultTimeout)) }, asked: make(chan struct{}, 9), release: make(chan struct{})}
	v := verifier(t, client.VerifierOptions{KeysURL: g.KeysURL, Transport: fetch, Now: now})
	verify := func(when string) {
		r := arrived()
		g.Assert(t, r, "widgets", ada(), []byte(body), func(_, c map[string]any) { c["iat"], c["exp"] = now().Unix(), now().Unix()+30 })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := v.Verify(ctx, r, []byte(body)); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	verify("while the gateway is there")
	fetch.hangs.Store(true)
	later.Add(int64(11 * time.Minute))
	first := make(chan struct{})
	go func() {
		defer close(first)
		verify("by who fetches")
	}()
	<-fetch.asked
	verify("while the fetch hangs")
	close(fetch.release)
	<-first
	for range 3 {
		verify("after the fetch")
	}
	if n := len(fetch.asked); n > 0 {
		t.Errorf("the keys are fetched %d times more at once", n)
	}
}

package peer_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// assertions are those of a gateway with a master key of its own.
func assertions(t *testing.T) *assertion.Keys {
	t.Helper()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	master := must.Get(resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(raw))))(t)
	return must.Get(assertion.NewKeys(master, time.Now))(t)
}

// TestAnswersWithoutABodyAreAnswers: the client gives their connection to the next call at once, and
// each call has the head of its own answer.
func TestAnswersWithoutABodyAreAnswers(t *testing.T) {
	t.Parallel()
	keys := assertions(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "1")
		w.Header().Set("X-Target", r.RequestURI)
	}))
	t.Cleanup(s.Close)
	base := must.Get(url.Parse(s.URL))(t)
	u := peer.NewUpstream("widgets", base, time.Minute, time.Minute, keys)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				a, err := u.Pass(t.Context(), peer.Call{Statement: assertion.Statement{Method: "GET", Target: "/x"}})
				if err != nil {
					t.Error(err)
					return
				}
				if _, kept := a.Header["X-Hop"]; kept || a.Header.Get("X-Target") != "/x" {
					t.Error(a.Header)
				}
				_ = a.Body.Close()
			}
		})
	}
	all.Wait()
}

// TestASilentUpstreamKeepsNoConnection: one that takes a connection and says nothing in the handshake costs
// a connection for as long as it may take to answer, and not until it speaks.
func TestASilentUpstreamKeepsNoConnection(t *testing.T) {
	t.Parallel()
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = silent.Close() })
	u := peer.NewUpstream("widgets", &url.URL{Scheme: "https", Host: silent.Addr().String()}, 50*time.Millisecond, time.Minute, assertions(t))
	if a, err := u.Pass(t.Context(), peer.Call{Statement: assertion.Statement{Method: "GET", Target: "/x"}}); err == nil {
		t.Fatal(a.Body.Close(), "an answer")
	}
	c := must.Get(silent.Accept())(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // fails on a closed connection
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection outlives the call")
	}
}

// TestAnAddressWithAZoneIsCalled guarantees calls to a link-local address of IPv6, which has the zone of its interface. The
// upstream listens on IPv4: some machines have no IPv6.
func TestAnAddressWithAZoneIsCalled(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", r.Host+r.RequestURI)
	}))
	t.Cleanup(s.Close)
	base := must.Get(url.Parse("http://[fe80::1%25lo]:7000/base"))(t)
	u, called := peer.NewUpstream("widgets", base, time.Minute, time.Minute, assertions(t)), ""
	peer.ConnectBy(u, func(ctx context.Context, network, address string) (net.Conn, error) {
		called = address
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	})
	a, err := u.Pass(t.Context(), peer.Call{Statement: assertion.Statement{Method: "GET", Target: "/x%2Fy?a=%20b"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if seen := a.Header.Get("X-Seen"); called != "[fe80::1%lo]:7000" || seen != "[fe80::1]:7000/base/x%2Fy?a=%20b" {
		t.Errorf("%q was called, which saw %q", called, seen)
	}
}

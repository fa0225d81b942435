package peer_test

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestAnswersWithoutABodyAreAnswers: the client gives their connection to the next call at once, and
// each call has the head of its own answer.
func TestAnswersWithoutABodyAreAnswers(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(raw)))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := assertion.NewKeys(master, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "1")
		w.Header().Set("X-Target", r.RequestURI)
	}))
	t.Cleanup(s.Close)
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	u := peer.NewUpstream("widgets", base, time.Minute, time.Minute, keys)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				a, err := u.Pass(t.Context(), assertion.Statement{Method: "GET", Target: "/x"}, http.Header{})
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

package private_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestRefusalsOfThePrivateListenerAreOneLine guarantees a refusal of one line, cut after a bound.
func TestRefusalsOfThePrivateListenerAreOneLine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not now"+strings.Repeat(".", 2*private.MaxRefusal), http.StatusServiceUnavailable)
	}))
	defer server.Close()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody))(t)
	resp, err := private.Do(req)
	if err == nil {
		t.Fatal(resp.Status, resp.Body.Close())
	}
	text := err.Error()
	if !strings.HasPrefix(text, "the gateway answers 503 Service Unavailable: not now...") || strings.Contains(text, "\n") || len(text) > private.MaxRefusal+100 {
		t.Errorf("%d bytes: %.80q", len(text), text)
	}
}

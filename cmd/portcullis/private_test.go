package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRefusalsOfThePrivateListenerAreOneLine, of which a part is told.
func TestRefusalsOfThePrivateListenerAreOneLine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not now"+strings.Repeat(".", 2*maxRefusal), http.StatusServiceUnavailable)
	}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := askPrivate(req)
	if err == nil {
		t.Fatal(resp.Status, resp.Body.Close())
	}
	told := err.Error()
	if !strings.HasPrefix(told, "the gateway answers 503 Service Unavailable: not now...") || strings.Contains(told, "\n") || len(told) > maxRefusal+100 {
		t.Errorf("%d bytes: %.80q", len(told), told)
	}
}

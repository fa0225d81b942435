package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// seen is a request as it reached a scripted server.
type seen struct {
	method, path, body string
	header             http.Header
}

// scripted is a server that records whole requests and speaks both eras.
type scripted struct {
	url string
	// status and location replace each response to a call of a tool. They are set between calls.
	status   int
	location string

	mu   sync.Mutex
	seen []seen
}

// requests returns the recorded requests whose path begins with the prefix.
func (s *scripted) requests(prefix string) []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.seen), func(one seen) bool { return !strings.HasPrefix(one.path, prefix) })
}

const scriptedTool = `{"name":"search_issues","description":"searches","inputSchema":{"type":"object"}}`

// newScripted starts the server. A tool call over the legacy era is answered by a stream, in which the server asks the
// client for its roots first.
func newScripted(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // a broken request is recorded as it came
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.URL.String(), string(raw), r.Header.Clone()})
		status, location := s.status, s.location
		s.mu.Unlock()
		switch r.Method {
		case http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":"r","method":"roots/list"}`+"\n\n")
			return
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
			return
		}
		var call struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(raw, &call); err != nil || call.ID == nil || call.Method == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if status != 0 && call.Method == "tools/call" {
			w.Header().Set("Location", location)
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(status)
			return
		}
		s.answer(w, r, call.Method, call.ID)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *scripted) answer(w http.ResponseWriter, r *http.Request, method string, id []byte) {
	result := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`,
		"tools/list": `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + scriptedTool + `]}`,
		"tools/call": `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`,
	}[method]
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	if method == "initialize" {
		w.Header().Set("Mcp-Session-Id", "session-of-the-server")
	}
	if method == "tools/call" && r.Header.Get("Mcp-Session-Id") != "" {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}\n\ndata: %s\n\n", body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// answerCalls sets the response to calls of tools.
func (s *scripted) answerCalls(status int, location string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.location = status, location
}

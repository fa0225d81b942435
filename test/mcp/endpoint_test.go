package mcp_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// endpoint is a scripted token endpoint that records requests.
type endpoint struct {
	url, secretFile string

	mu sync.Mutex
	// respond answers each request in place of the endpoint. nil lets the endpoint issue a token.
	respond func(w http.ResponseWriter, form url.Values)
	// lifetime is the expires_in of issued tokens.
	lifetime int
	asked    []url.Values
	headers  []http.Header
	issued   []string
}

const grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

// newEndpoint starts an endpoint. An exchanged token begins with swapped-, one of the gateway itself with own-.
func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{lifetime: 3600, secretFile: harness.TempFile(t, "client-secret", rand.Text()+"\n")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // a broken request is recorded as it came
		form, _ := url.ParseQuery(string(raw))
		e.mu.Lock()
		e.asked, e.headers = append(e.asked, form), append(e.headers, r.Header.Clone())
		respond := e.respond
		e.mu.Unlock()
		if respond != nil {
			respond(w, form)
			return
		}
		e.issue(w, form, nil)
	}))
	t.Cleanup(server.Close)
	e.url = server.URL + "/token"
	return e
}

// issue answers with a new token. change changes the response.
func (e *endpoint) issue(w http.ResponseWriter, form url.Values, change map[string]any) {
	kind := map[bool]string{true: "swapped-", false: "own-"}[form.Get("grant_type") == grantExchange]
	token := kind + rand.Text()
	e.mu.Lock()
	e.issued = append(e.issued, token)
	body := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": e.lifetime, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
	e.mu.Unlock()
	for name, value := range change {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // a client that left is the test's
}

// set replaces the responses.
func (e *endpoint) set(respond func(w http.ResponseWriter, form url.Values)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.respond = respond
}

// exchanges returns the requests for a caller's token.
func (e *endpoint) exchanges() []url.Values {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.asked), func(form url.Values) bool { return form.Get("subject_token") == "" })
}

// tokens returns the issued tokens.
func (e *endpoint) tokens() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.issued)
}

// args are the settings for the endpoint, with an upstream of the name exchange.
func (e *endpoint) args(more ...string) []string {
	return append([]string{
		"--exchange-url", e.url, "--exchange-client-id", "gate:way", "--exchange-client-secret-file", e.secretFile,
		"--exchange-audience", "exchange=https://issues.example",
	}, more...)
}

// secret returns the client's secret.
func (e *endpoint) secret(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(e.secretFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

// isOneOf reports whether a value of Authorization is one of the tokens of that kind.
func isOneOf(authorization, kind string, tokens []string) bool {
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	return ok && strings.HasPrefix(token, kind) && slices.Contains(tokens, token)
}

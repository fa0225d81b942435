package tickets_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/definition"
)

// scene is the server with the keys of its gateway.
type scene struct {
	keys   *assertion.Keys
	server http.Handler
}

func newKeys(t *testing.T) *assertion.Keys {
	t.Helper()
	seed := make([]byte, 32)
	_, _ = rand.Read(seed) // it never fails
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(seed) + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := assertion.NewKeys(master, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func newScene(t *testing.T) *scene {
	t.Helper()
	keys := newKeys(t)
	return &scene{keys, tickets.Handler(keys)}
}

// bobsAgent is Bob through an agent.
var bobsAgent = resources.Principal{Kind: resources.PrincipalUser, ID: "user-bob-v1", Client: &resources.Client{Issuer: "portcullis", ID: "assistant"}}

// post sends a message with the assertions.
func (s *scene) post(message string, assertions ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(message))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-Request-ID", "r")
	r.Header.Set("X-Tickets-Caller", "user-eve-v1")
	for _, one := range assertions {
		r.Header.Add(assertion.Header, one)
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return w
}

func statement(message string) assertion.Statement {
	return assertion.Statement{Upstream: tickets.Name, RequestID: "r", Method: http.MethodPost, Target: "/mcp", Body: []byte(message), Principal: bobsAgent}
}

func sign(t *testing.T, keys *assertion.Keys, s assertion.Statement) string {
	t.Helper()
	token, err := keys.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// ask returns the result of a message that the gateway passes.
func (s *scene) ask(t *testing.T, message string) string {
	t.Helper()
	w := s.post(message, sign(t, s.keys, statement(message)))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func call(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

// TestTheRowsAreTheServers guarantees that the overlay compiles. Each tool has a row with its definition and its schema.
func TestTheRowsAreTheServers(t *testing.T) {
	t.Parallel()
	tree, err := overlay.Read(tickets.Policy())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := proof.Compile(t.Context(), tree); err != nil {
		t.Error(err)
	}
	var rows struct {
		Tools map[string]resources.MCPTool `json:"tools"`
	}
	schemas := map[string]any{}
	for name, target := range map[string]any{"data.json": &rows, "schema/data.json": &schemas} {
		text, err := fs.ReadFile(tickets.Policy(), "mcp/"+tickets.Name+"/"+name)
		if err == nil {
			err = json.Unmarshal(text, target)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var listed struct {
		Result struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(newScene(t).ask(t, list)), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed.Result.Tools) != 2 || len(rows.Tools) != 2 {
		t.Fatalf("%d tools, %d rows", len(listed.Result.Tools), len(rows.Tools))
	}
	for _, raw := range listed.Result.Tools {
		var tool struct {
			Name        string `json:"name"`
			InputSchema any    `json:"inputSchema"`
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		hash, err := definition.Of(raw)
		if err != nil || rows.Tools[tool.Name].Definition != hash {
			t.Errorf("%s: the row has %q, the server %s (%v)", tool.Name, rows.Tools[tool.Name].Definition, hash, err)
		}
		if want, _ := json.Marshal(tool.InputSchema); !reflect.DeepEqual(schemas[tool.Name], tool.InputSchema) {
			t.Errorf("%s: the schema is\n%s", tool.Name, want)
		}
	}
}

// TestOnlyTheGatewayReachesTheTools guarantees that a call needs one assertion of the gateway for this very message.
func TestOnlyTheGatewayReachesTheTools(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	message := call("close_ticket", `{"number":1}`)
	good := sign(t, s.keys, statement(message))
	other, elsewhere, body := statement(message), statement(message), statement(list)
	other.Upstream, elsewhere.Target = "issues", "/other"
	for name, assertions := range map[string][]string{
		"none": nil, "twice": {good, good}, "another gateway's": {sign(t, newKeys(t), statement(message))},
		"another server's": {sign(t, s.keys, other)}, "another target's": {sign(t, s.keys, elsewhere)}, "another message's": {sign(t, s.keys, body)},
	} {
		if w := s.post(message, assertions...); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := s.post(message+strings.Repeat(" ", 1<<20), good); w.Code != http.StatusBadRequest {
		t.Errorf("a body of more than 1 MiB: %d", w.Code)
	}
	if text := s.ask(t, call("search_tickets", `{"text":"printer"}`)); !strings.Contains(text, "(open)") {
		t.Errorf("a refused call closed the ticket: %s", text)
	}
}

// TestTheDeskNamesWhoClosed guarantees what the tools do, and that the caller is the assertion's.
func TestTheDeskNamesWhoClosed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"search_tickets", `{"open":true}`, `1 The printer on floor 2 prints blank pages (open)\n2 Password reset mail does not arrive (open)"`},
		{"search_tickets", `{"text":"PRINTER"}`, `"1 The printer`},
		{"search_tickets", `{"text":"boat"}`, `no ticket fits`},
		{"search_tickets", `{"txt":"boat"}`, `"isError":true`},
		{"close_ticket", `{}`, `"isError":true`},
		{"close_ticket", `{"number":0}`, `number must be a ticket's, 1 to 3, not 0`},
		{"close_ticket", `{"number":1,"comment":"new ink"}`, `ticket 1 is closed by user-bob-v1 through assistant: new ink`},
		{"close_ticket", `{"number":1}`, `ticket 1 is closed already`},
		{"search_tickets", `{}`, `blank pages (closed by user-bob-v1 through assistant: new ink)\n2 `},
	} {
		if text := s.ask(t, call(c.tool, c.arguments)); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s", c.tool, c.arguments, text)
		}
	}
}

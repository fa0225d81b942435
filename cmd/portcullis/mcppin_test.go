package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/definition"
)

// legacy is an MCP server of the 2025-11-25 revision with a page of tools for each cursor.
type legacy struct {
	pages  [][]string
	events bool
	// seen are the values of Authorization that came.
	seen marks
}

// marks are texts that a server has seen.
type marks struct {
	mu    sync.Mutex
	texts map[string]bool
}

func (m *marks) add(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil {
		m.texts = map[string]bool{}
	}
	m.texts[text] = true
}

// all returns them in order, and forgets them.
func (m *marks) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Sorted(maps.Keys(m.texts))
	m.texts = nil
	return out
}

func (l *legacy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.seen.add(r.Header.Get("Authorization"))
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct{ Cursor string }
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&call) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	answer := `"error":{"code":-32601,"message":"no such method"}`
	switch call.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"legacy","version":"1"}}`
	case "tools/list":
		page := strings.Count(call.Params.Cursor, "+")
		next := ""
		if page+1 < len(l.pages) {
			next = `,"nextCursor":"` + call.Params.Cursor + `+"`
		}
		answer = `"result":{"tools":[` + strings.Join(l.pages[min(page, len(l.pages)-1)], ",") + `]` + next + `}`
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
		return
	}
	body := `{"jsonrpc":"2.0","id":` + string(call.ID) + `,` + answer + `}`
	if l.events && call.Method == "tools/list" {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": hello\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\nevent: message\ndata: %s\n\n", body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, body)
}

// pinned runs `mcp pin` for the server desk, and returns what it prints.
func pinned(t *testing.T, dir, url string, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := newRoot()
	cmd.SetArgs(append([]string{"mcp", "pin", "desk", dir, "--upstream", url}, flags...))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// ownFolder is an overlay with nothing in it.
func ownFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.json"), []byte(`{"base": "embedded"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// inTree returns the server desk of the tree that a folder makes; nil without one.
func inTree(t *testing.T, dir string) *resources.MCPServer {
	t.Helper()
	src, err := overlay.Read(policies.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return set.MCPServer("desk")
}

func contentOf(t *testing.T, parts ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const (
	openTool   = `{"name":"open","description":"Opens <it>","inputSchema":{"type":"object","properties":{"n":{"maximum":1E3}}},"annotations":{"readOnlyHint":true,"unknown":1},"_meta":{"a":1}}`
	closeTool  = `{"name":"close","inputSchema":{"type":"object"}}`
	circleTool = `{"name":"tree","inputSchema":{"type":"object","properties":{"next":{"$ref":"#"}}}}`
	oddTool    = `{"name":"a/b","inputSchema":{"type":"object"}}`
)

// TestPinWritesWhatAServerLists: the hash of its bytes, only for tools with an action.
func TestPinWritesWhatAServerLists(t *testing.T) {
	for name, events := range map[string]bool{"JSON": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			l := &legacy{pages: [][]string{{openTool, closeTool}, {circleTool}, {oddTool}}, events: events}
			upstream := httptest.NewServer(l)
			defer upstream.Close()
			dir := ownFolder(t)
			out, err := pinned(t, dir, upstream.URL)
			if err != nil || inTree(t, dir) != nil || !strings.Contains(out, "open: needs an action (--action open=ACTION:EFFECT); the server says that it only reads\n") ||
				!strings.Contains(out, `"a/b": can have no row`) || !strings.Contains(out, "lists 4 tools, and 0 have a row in mcp/desk/data.json; 3 need an action") {
				t.Fatalf("%v %s", err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "mcp")); !os.IsNotExist(err) {
				t.Errorf("a folder without a row: %v", err)
			}
			out, err = pinned(t, dir, upstream.URL, "--action", "open=project:desk:open:read", "--action", "tree=account:desk:walk:write")
			if err != nil || !strings.Contains(out, "open: new, project:desk:open, read\n") || !strings.Contains(out, "tree: has no schema for rules: its inputSchema its references go round") {
				t.Fatalf("%v %s", err, out)
			}
			s := inTree(t, dir)
			want, err := definition.Of([]byte(openTool))
			if err != nil {
				t.Fatal(err)
			}
			open, tree := s.Tools["open"], s.Tools["tree"]
			if open.Definition != want || open.Effect != "read" || open.Action != "project:desk:open" || !strings.Contains(string(open.InputSchema), "1E3") || s.Upstream != "desk" ||
				len(s.Tools) != 2 || tree.InputSchema != nil || tree.Definition == "" {
				t.Errorf("%+v", s)
			}
			if rows := contentOf(t, dir, "mcp/desk/data.json"); strings.Count(rows, "\n") != 7 || !strings.Contains(rows, `    "open": {"action": "project:desk:open", "effect": "read", "definition": "`+want+`"},`) {
				t.Error(rows)
			}
			if out, err := pinned(t, dir, upstream.URL, "--check"); err != nil || strings.Contains(out, "open:") {
				t.Errorf("nothing differs: %v %s", err, out)
			}
			if sent := l.seen.all(); !slices.Equal(sent, []string{""}) {
				t.Errorf("Authorization %q", sent)
			}
		})
	}
}

// TestPinTellsWhatHasChanged, and --check writes nothing.
func TestPinTellsWhatHasChanged(t *testing.T) {
	l := &legacy{pages: [][]string{{openTool, closeTool}}}
	upstream := httptest.NewServer(l)
	defer upstream.Close()
	dir := ownFolder(t)
	if _, err := pinned(t, dir, upstream.URL, "--check"); err == nil || !strings.Contains(err.Error(), "nothing is pinned") {
		t.Errorf("without a file: %v", err)
	}
	if out, err := pinned(t, dir, upstream.URL, "--action", "open=project:desk:open:read", "--action", "close=project:desk:close:write"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	file := filepath.Join(dir, "mcp/desk/data.json")
	edited := strings.Replace(contentOf(t, file), `"effect": "write"`, `"effect": "write", "approval": "each_call"`, 1)
	edited = strings.Replace(edited, `"upstream"`, "\n\n\"agents\": \"any\", \"upstream\"", 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := pinned(t, dir, upstream.URL); err != nil || contentOf(t, file) != edited {
		t.Errorf("nothing differs, and the file is written anew: %v %s", err, out)
	}
	l.pages = [][]string{{strings.Replace(openTool, "1E3", "1001", 1), `{"name":"new","inputSchema":{"type":"object"}}`}}
	lines := []string{"open: the definition has changed: sha256:", "open: the schema of its arguments has changed\n", "close: gone: the server does not list it", "new: needs an action"}
	schemas := contentOf(t, dir, "mcp/desk/schema/data.json")
	out, err := pinned(t, dir, upstream.URL, "--check")
	for _, line := range lines {
		if !errors.Is(err, errDiffers) || !strings.Contains(out, line) || contentOf(t, file) != edited || contentOf(t, dir, "mcp/desk/schema/data.json") != schemas {
			t.Errorf("no %q: %v %s", line, err, out)
		}
	}
	if again, err := pinned(t, dir, upstream.URL); err != nil || again != out {
		t.Errorf("%v %s", err, again)
	}
	if s := inTree(t, dir); s.Agents != "any" || s.Tools["close"].Approval != "each_call" || len(s.Tools) != 2 || !strings.Contains(string(s.Tools["open"].InputSchema), "1001") {
		t.Errorf("%+v", s)
	}
	if out, err := pinned(t, dir, upstream.URL, "--check"); !errors.Is(err, errDiffers) || !strings.Contains(out, "close: gone") || strings.Contains(out, "open:") {
		t.Errorf("a row without its tool: %v %s", err, out)
	}
	// The author takes the row out; the schema follows.
	rows := strings.Split(contentOf(t, file), "\n")
	var rest []string
	for _, line := range rows {
		if !strings.Contains(line, `"close"`) {
			rest = append(rest, line)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(rest, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := pinned(t, dir, upstream.URL); err != nil || !strings.Contains(out, "close: the schema of its arguments goes") || len(inTree(t, dir).Tools) != 1 {
		t.Errorf("%v %s", err, out)
	}
	if out, err := pinned(t, dir, upstream.URL, "--check"); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

// TestPinOfNamesWritesNoDefinition: definitions of such a server differ by user.
func TestPinOfNamesWritesNoDefinition(t *testing.T) {
	upstream := httptest.NewServer(&legacy{pages: [][]string{{openTool}}})
	defer upstream.Close()
	dir := ownFolder(t)
	file := filepath.Join(dir, "mcp/desk/data.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"upstream": "d", "pin": "names", "prompts": {"p": {"action": "project:a:b", "effect": "read"}}, "resources": [{"uri": "a:{b}", "action": "project:a:b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := pinned(t, dir, upstream.URL, "--action", "open=project:desk:open:read"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if s := inTree(t, dir); s.Tools["open"].Definition != "" || s.Upstream != "d" || len(s.Prompts) != 1 || len(s.Resources) != 1 || s.Tools["open"].InputSchema == nil {
		t.Errorf("%+v", s)
	}
}

// TestPinReadsAServerOfTheModernEra, the official SDK's, with a token that goes to it alone.
func TestPinReadsAServerOfTheModernEra(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "modern", Version: "1"}, &mcp.ServerOptions{PageSize: 1})
	type arguments struct {
		N int `json:"n"`
	}
	for _, name := range []string{"open", "close"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, arguments) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
	}
	var methods, tokens marks
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods.add(r.Header.Get("Mcp-Method"))
		tokens.add(r.Header.Get("Authorization"))
		handler.ServeHTTP(w, r)
	}))
	defer upstream.Close()
	dir := ownFolder(t)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("for-the-desk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := pinned(t, dir, upstream.URL, "--token-file", token, "--action", "open=project:desk:open:read")
	if asked := methods.all(); err != nil || !strings.Contains(out, "lists 2 tools, and 1 have a row") || !slices.Equal(asked, []string{"tools/list"}) {
		t.Fatalf("%v %s; methods %q", err, out, asked)
	}
	if sent := tokens.all(); !slices.Equal(sent, []string{"Bearer for-the-desk"}) {
		t.Errorf("tokens %q", sent)
	}
	if s := inTree(t, dir); s.Tools["open"].Definition == "" || !strings.Contains(string(s.Tools["open"].InputSchema), `"n"`) {
		t.Errorf("%+v", s)
	}
	elsewhere := httptest.NewServer(http.RedirectHandler(upstream.URL, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	out, err = pinned(t, dir, elsewhere.URL, "--token-file", token)
	if sent := tokens.all(); err == nil || len(sent) != 0 {
		t.Errorf("a redirect was followed: %v %s, tokens %q", err, out, sent)
	}
}

// TestPinRefusesWhatItCantReadInOneWay, and writes nothing then.
func TestPinRefusesWhatItCantReadInOneWay(t *testing.T) {
	for want, pages := range map[string][][]string{
		"without duplicate members": {{`{"name":"open","name":"open","inputSchema":{"type":"object"}}`}},
		"two tools of the name":     {{openTool}, {openTool}},
		"inputSchema":               {{`{"name":"open","inputSchema":{"type":"object","a":{"b":1,"b":2}}}`}},
	} {
		t.Run(want, func(t *testing.T) {
			upstream := httptest.NewServer(&legacy{pages: pages})
			defer upstream.Close()
			dir := ownFolder(t)
			out, err := pinned(t, dir, upstream.URL, "--action", "open=project:desk:open:read")
			if err == nil || !strings.Contains(err.Error(), want) && want != "inputSchema" || inTree(t, dir) != nil {
				t.Errorf("%v %s", err, out)
			}
		})
	}
	upstream := httptest.NewServer(&legacy{pages: [][]string{{openTool}}})
	defer upstream.Close()
	for want, flags := range map[string][]string{
		"--action must be TOOL=ACTION:EFFECT":       {"--action", "open"},
		"the action must have the form":             {"--action", "open=project:*:read:read"},
		"the effect must be read or write":          {"--action", "open=project:desk:open:all"},
		"the tool has another --action":             {"--action", "open=project:desk:open:read", "--action", "open=project:desk:open:read"},
		"the server lists no tool of this name":     {"--action", "shut=project:desk:open:read"},
		"tools.open.action: Does not match":         {"--action", "open=resource:desk:open:read"},
		"--check writes nothing: leave --action":    {"--check", "--action", "open=project:desk:open:read"},
		"--token-file: open nowhere":                {"--token-file", "nowhere"},
		"--upstream must be the http:// or https:/": {"--upstream", "ftp://h"},
	} {
		dir := ownFolder(t)
		if out, err := pinned(t, dir, upstream.URL, flags...); err == nil || !strings.Contains(err.Error(), want) || inTree(t, dir) != nil {
			t.Errorf("%s: %v %s", want, err, out)
		}
	}
	if _, err := pinned(t, t.TempDir(), upstream.URL); err == nil || !strings.Contains(err.Error(), "is not a policy folder") {
		t.Error(err)
	}
}

// TestPinEndsAtOnceAtAServerThatAnswersOtherRequests guarantees a message instead of the whole time for a listing.
func TestPinEndsAtOnceAtAServerThatAnswersOtherRequests(t *testing.T) {
	for _, media := range []string{"application/json", "text/event-stream"} {
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			body := `{"jsonrpc":"2.0","id":99,"result":{"tools":[]}}`
			if media == "application/json" {
				_, _ = fmt.Fprint(w, body)
				return
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", body)
			w.(http.Flusher).Flush() //nolint:forcetypeassert // the server's own
			<-r.Context().Done()     // the stream stays open
		}))
		began := time.Now()
		out, err := pinned(t, ownFolder(t), upstream.URL)
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "the server's response has the id of another request") || took > pinsWithin/4 {
			t.Errorf("%s, %s: %v %s", media, took, err, out)
		}
		upstream.Close()
	}
}

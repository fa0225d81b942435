package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// recorded is an event of the decision log.
type recorded struct {
	ID     string `json:"decision_id"`
	Parent string `json:"parent_id"`
	Path   string
	By     string `json:"requested_by"`
	Labels map[string]string
	Input  struct {
		Server, Method, Name, Definition string
		Agent                            any // an object in a decision
		Arguments                        json.RawMessage
		Cut                              bool `json:"arguments_cut"`
		Actors                           []string
		Action, Subject                  struct{ ID string }
		Principal                        struct{ Kind string }
	}
	Result struct {
		Allow     *bool
		Code      string
		EndedBy   string `json:"ended_by"`
		Status    int
		Error     int
		ToolError bool `json:"tool_error"`
		Millis    int  `json:"duration_ms"`
		Bytes     int
	}
}

// export returns the decision log, the oldest first, of each kind.
func export(t *testing.T, g *harness.Gateway) (text string, byPath map[string][]recorded) {
	t.Helper()
	o := harness.Command(t, nil, "decisions", "export", "--data-dir", g.DataDir)
	if o.Code != 0 {
		t.Fatalf("%+v", o)
	}
	byPath = map[string][]recorded{}
	for line := range strings.Lines(o.Stdout) {
		var r recorded
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		byPath[r.Path] = append(byPath[r.Path], r)
	}
	return o.Stdout, byPath
}

// actingServer is a server that answers each tool call as its name says, and counts the calls.
func actingServer(t *testing.T) (url string, calls *atomic.Int32) {
	t.Helper()
	calls = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch text := string(raw); {
		case strings.Contains(text, "rpc-error"):
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"secret-answer"}}`)
		case strings.Contains(text, "tool-error"):
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"secret-answer"}],"isError":true}}`)
		case strings.Contains(text, "not-json"):
			fmt.Fprint(w, `secret-answer`)
		case strings.Contains(text, "hang"):
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"secret-answer"}]}}`)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, calls
}

// callWith is a modern call of a tool with these arguments.
func callWith(tool, arguments string) string {
	return request("tools/call", `"name":"`+tool+`","arguments":`+arguments)
}

// TestEachCallIsRecorded guarantees the records of a call, allowed and denied, below its decision: what was called, without
// a value of its arguments, and how it ended, without a value of its response. The log stays whole.
func TestEachCallIsRecorded(t *testing.T) {
	t.Parallel()
	url, calls := actingServer(t)
	g := startOn(t, url, policiesWith(t, rows), "--decision-log", "required")
	token := tokenFor(t, g, reader, bothScopes)
	ask := func(tool, arguments string) {
		t.Helper()
		if resp, text := raw(t, g, path, token, callWith(tool, arguments), modern("tools/call", tool)...); resp.StatusCode != 200 {
			t.Fatalf("%s: %d %s", tool, resp.StatusCode, text)
		}
	}
	ask("search_issues", `{"q":"secret-value","who":{"mail":"eve@secret.example","ages":[41,42],"on":true,"no":null}}`)
	ask("merge_pull_request", `{"number":4711}`)
	ask("search_issues", `{"q":"rpc-error"}`)
	ask("search_issues", `{"q":"tool-error"}`)
	ask("search_issues", `{"q":"not-json"}`)
	raw(t, g, path, tokenFor(t, g, admin, "mcp:read"), callWith("merge_pull_request", `{}`), modern("tools/call", "merge_pull_request")...)
	raw(t, g, path, token, request("resources/read", `"uri":"repo://acme/site/readme"`), modern("resources/read", "repo://acme/site/readme")...)
	raw(t, g, path, token, request("prompts/get", `"name":"triage","arguments":{"topic":"secret-value"}`), modern("prompts/get", "triage")...)

	for outcome, want := range map[string]float64{"answered": 3, "failed": 2, "gateway": 1, "denied": 2, "caller": 0, "undecided": 0} {
		if got := harness.MetricOf(t, g, `portcullis_mcp_calls_total{outcome="`+outcome+`",server="issues"}`); got != want {
			t.Errorf("%v calls are %s, want %v", got, outcome, want)
		}
	}
	text, all := export(t, g)
	decisions := map[string]recorded{}
	for _, d := range all["authz/decision"] {
		decisions[d.ID] = d
	}
	for _, value := range []string{"secret-", "eve@", "4711"} {
		if strings.Contains(text, value) {
			t.Errorf("the log has %s", value)
		}
	}
	want := []struct {
		method, name, arguments, code string
		allow                         bool
	}{
		{"tools/call", "search_issues", `{"q":"…","who":{"ages":["…","…"],"mail":"…","no":null,"on":"…"}}`, "", true},
		{"tools/call", "merge_pull_request", `{"number":"…"}`, "no_role", false},
		{"tools/call", "search_issues", `{"q":"…"}`, "", true},
		{"tools/call", "search_issues", `{"q":"…"}`, "", true},
		{"tools/call", "search_issues", `{"q":"…"}`, "", true},
		{"tools/call", "merge_pull_request", `{}`, "insufficient_scope", false},
		{"resources/read", "repo://acme/site/readme", ``, "", true},
		{"prompts/get", "triage", `{"topic":"…"}`, "", true},
	}
	got := all["mcp/call"]
	if len(got) != len(want) {
		t.Fatalf("%d records of calls: %s", len(got), text)
	}
	parents := []string{}
	for i, w := range want {
		r := got[i]
		policy := decisions[r.Parent]
		if r.Input.Server != "issues" || r.Input.Method != w.method || r.Input.Name != w.name || canonical(t, r.Input.Arguments) != w.arguments || r.Input.Cut ||
			r.Result.Allow == nil || *r.Result.Allow != w.allow || r.Result.Code != w.code || r.ID == r.Parent || policy.ID == "" ||
			policy.Labels["policy_revision"] != r.Labels["policy_revision"] || r.Input.Action.ID == "" || r.Input.Actors == nil || len(r.Input.Actors) != 0 {
			t.Errorf("%d: %+v, below %+v", i, r, policy)
		}
		if w.allow {
			parents = append(parents, r.Parent)
		}
	}
	ends := []struct {
		endedBy   string
		code      int
		toolError bool
	}{{"upstream", 0, false}, {"upstream", -32602, false}, {"upstream", 0, true}, {"gateway", 0, false}, {"upstream", 0, false}, {"upstream", 0, false}}
	if len(all["mcp/outcome"]) != len(ends) || int(calls.Load()) != len(ends) {
		t.Fatalf("%d outcomes of %d calls: %s", len(all["mcp/outcome"]), calls.Load(), text)
	}
	for i, e := range ends {
		r := all["mcp/outcome"][i]
		if r.Parent != parents[i] || r.Result.EndedBy != e.endedBy || r.Result.Status != 200 || r.Result.Error != e.code || r.Result.ToolError != e.toolError ||
			r.Result.Bytes == 0 || r.Result.Allow != nil || r.Input.Server != "issues" || r.Input.Arguments != nil {
			t.Errorf("outcome %d: %+v", i, r)
		}
	}
	if o := harness.Command(t, nil, "decisions", "search", "--verdict", "deny", "--path", "mcp/outcome", "--data-dir", g.DataDir); o.Code != 1 {
		t.Errorf("an outcome has a verdict: %+v", o)
	}
	if o := harness.Command(t, nil, "decisions", "search", "--verdict", "deny", "--path", "mcp/call", "--data-dir", g.DataDir); o.Code != 0 || strings.Count(o.Stdout, "\n") != 2 {
		t.Errorf("denied calls: %+v", o)
	}
	g.Terminate(t)
	g.Ended(t)
	if o := harness.Command(t, nil, "decisions", "verify", "--data-dir", g.DataDir); o.Code != 0 && !harness.OnMongoDB() {
		t.Errorf("verify: %+v", o)
	}
	if o := harness.Command(t, nil, "policy", "replay", "--decisions", g.DataDir+"/decisions", policiesWith(t, rows)); o.Code != 0 && !harness.OnMongoDB() {
		t.Errorf("replay: %+v", o)
	}
}

// canonical returns a JSON value with sorted names, "" for none.
func canonical(t *testing.T, value json.RawMessage) string {
	t.Helper()
	if value == nil {
		return ""
	}
	var parsed any
	if err := json.Unmarshal(value, &parsed); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

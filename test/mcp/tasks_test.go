package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// tasker is a server with one answer to each method: a result, or several lines for a stream of messages. ID stands for
// the request's id there, and a line PAUSE for a wait in which the gateway judges the stream twice.
type tasker struct {
	url string

	mu      sync.Mutex
	answers map[string]string
	seen    []seen
}

func newTasker(t *testing.T) *tasker {
	t.Helper()
	s := &tasker{answers: map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{},"cancel":{}}},"serverInfo":{"name":"s","version":"1"}}`,
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) // a broken request is recorded as it came
		var call struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(raw, &call) // a GET has no body
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.URL.Path, string(raw), r.Header.Clone()})
		answer := s.answers[call.Method]
		s.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", "session-of-the-server")
		switch {
		case r.Method == http.MethodPost && (call.ID == nil || call.Method == ""):
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodGet, strings.Contains(answer, "\n"):
			w.Header().Set("Content-Type", "text/event-stream")
			for line := range strings.Lines(strings.ReplaceAll(answer, `"ID"`, string(call.ID))) {
				if line == "PAUSE\n" {
					_ = http.NewResponseController(w).Flush() // the client has gone
					time.Sleep(1200 * time.Millisecond)
					continue
				}
				_, _ = io.WriteString(w, "data: "+line+"\n")
			}
			_, _ = io.WriteString(w, "\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, answer)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// set sets the answer to a method, "" for that of GET.
func (s *tasker) set(method, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[method] = answer
}

// got returns the requests since the last call of got.
func (s *tasker) got() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return slices.DeleteFunc(out, func(one seen) bool { return strings.Contains(one.body, "tools/list") }) // the gateway's own
}

var taskID = regexp.MustCompile(`"taskId":"([^"]*)"`)

// idIn returns the only task id in an answer, however often it stands there.
func idIn(t *testing.T, text string) (id string) {
	t.Helper()
	for _, match := range taskID.FindAllStringSubmatch(text, -1) {
		if id != "" && id != match[1] {
			t.Errorf("two ids: %s", text)
		}
		id = match[1]
	}
	if id == "" || strings.Contains(text, "t.1") {
		t.Fatalf("the task has no sealed id: %s", text)
	}
	return id
}

// askTask sends a modern request about a task.
func askTask(t *testing.T, g *harness.Gateway, path, token, method, id, more string) (*http.Response, string) {
	t.Helper()
	return raw(t, g, path, token, request(method, `"taskId":"`+id+`"`+more), modern(method, id)...)
}

const modernTask = `{"resultType":"task","taskId":"t.1","status":"working","ttlMs":60000}`

// TestATaskIsOfItsCaller guarantees that the caller of a modern task follows it by a sealed id. The server sees its own id
// in body and header. With another user, agent, path or server, with the server's own id or a changed one the task is not
// known, and the server gets nothing.
func TestATaskIsOfItsCaller(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, withOther(t, policiesWith(t, rows), rows))
	token := tokenFor(t, g, reader, bothScopes)
	s.set("tools/call", modernTask)
	_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
	id := idIn(t, text)
	s.got()
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		s.set(method, `{"resultType":"complete","taskId":"t.1","status":"completed","result":{"content":[]}}`)
		resp, text := askTask(t, g, path, token, method, id, `,"inputResponses":{"taskId":{"taskId":"t.9"}}`)
		if resp.StatusCode != 200 || idIn(t, text) != id && !strings.Contains(text, id) {
			t.Errorf("%s: %d %s", method, resp.StatusCode, text)
		}
		got := s.got()
		if len(got) != 1 || !strings.Contains(got[0].body, `"taskId":"t.1","inputResponses":{"taskId":{"taskId":"t.9"}}`) || got[0].header.Get("Mcp-Name") != "t.1" {
			t.Errorf("%s: the server got %+v", method, got)
		}
	}
	const short, other = "/mcp/issues", "/mcp/projects/" + project + "/other"
	for name, try := range map[string]func() (*http.Response, string){
		"another user": func() (*http.Response, string) {
			return askTask(t, g, path, tokenFor(t, g, admin, bothScopes), "tasks/get", id, "")
		},
		"another agent": func() (*http.Response, string) {
			return askTask(t, g, path, g.Token(t, "--user", reader, "--agent", "helper", "--audience", publicURL+path, "--scope", bothScopes), "tasks/get", id, "")
		},
		"another server": func() (*http.Response, string) {
			return askTask(t, g, other, g.Token(t, "--user", reader, "--audience", publicURL+other, "--scope", bothScopes), "tasks/get", id, "")
		},
		"another path": func() (*http.Response, string) {
			return askTask(t, g, short, g.Token(t, "--user", reader, "--audience", publicURL+short, "--scope", bothScopes), "tasks/get", id, "")
		},
		"the server's id": func() (*http.Response, string) { return askTask(t, g, path, token, "tasks/get", "t.1", "") },
		"a changed id":    func() (*http.Response, string) { return askTask(t, g, path, token, "tasks/get", "A"+id[1:], "") },
		"a related task": func() (*http.Response, string) {
			body := strings.Replace(request("tasks/get", `"taskId":"`+id+`"`), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t.2"},`, 1)
			return raw(t, g, path, token, body, modern("tasks/get", id)...)
		},
		"a stream": func() (*http.Response, string) {
			return raw(t, g, path, token, request("subscriptions/listen", `"notifications":{"taskIds":["`+id+`","t.2"]}`), modern("subscriptions/listen", "")...)
		},
	} {
		if resp, text := try(); resp.StatusCode != 404 || !strings.Contains(text, "-32602") || len(s.got()) != 0 {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
}

// TestATaskIsJudgedAnew guarantees that each message about a task needs the right to call its tool, and the tool's scope.
func TestATaskIsJudgedAnew(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	owner := g.UserToken(t, admin)
	assignment := "/api/v1/accounts/" + account + "/roles/account_reader/assignments/" + reader
	token := tokenFor(t, g, reader, bothScopes)
	s.set("tools/call", modernTask)
	s.set("tasks/get", modernTask)
	_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
	id := idIn(t, text)
	if resp, text := askTask(t, g, path, tokenFor(t, g, reader, "mcp:write"), "tasks/get", id, ""); resp.StatusCode != 403 {
		t.Errorf("without the scope of the tool: %d %s", resp.StatusCode, text)
	}
	_, text = raw(t, g, path, tokenFor(t, g, admin, bothScopes), call(merge), modern("tools/call", merge)...)
	if resp, text := askTask(t, g, path, tokenFor(t, g, admin, "mcp:read"), "tasks/get", idIn(t, text), ""); resp.StatusCode != 403 {
		t.Errorf("with the scope of another tool: %d %s", resp.StatusCode, text)
	}
	if r := harness.Call(t, "DELETE", g.URL+assignment, owner, ""); r.Status/100 != 2 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	s.got()
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		if _, text := askTask(t, g, path, token, method, id, ""); !strings.Contains(text, "-32001") || len(s.got()) != 0 {
			t.Errorf("%s: %s", method, text)
		}
	}
	body := request("subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]}`)
	if _, text := raw(t, g, path, token, body, modern("subscriptions/listen", "")...); !strings.Contains(text, "-32001") || len(s.got()) != 0 {
		t.Errorf("a stream: %s", text)
	}
}

// TestATaskOfAnApprovedCallGoesOn guarantees that messages about a task need no further approval, also while their stream
// is open.
func TestATaskOfAnApprovedCallGoesOn(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, strings.Replace(rows, `"effect": "read"}, "merge`, `"effect": "read", "approval": "each_call"}, "merge`, 1)))
	token := tokenFor(t, g, reader, bothScopes)
	s.set("tools/call", modernTask)
	ask := func() string {
		_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
		return text
	}
	request := between(ask(), `"access_request":{"id":"`)
	r := harness.Call(t, "PATCH", g.URL+"/api/v1/accounts/"+account+"/users/"+reader+"/approvals/"+request, g.UserToken(t, reader), `{"status":"APPROVED"}`)
	if r.Status != 200 {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	id := idIn(t, ask())
	s.set("tasks/get", `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\nPAUSE\n"+`{"jsonrpc":"2.0","id":"ID","result":{"resultType":"complete","taskId":"t.1","status":"completed"}}`)
	if _, text := askTask(t, g, path, token, "tasks/get", id, ""); !strings.Contains(text, "completed") {
		t.Errorf("tasks/get: %s", text)
	}
}

// TestNotificationsNameKnownTasks guarantees notifications with the client's ids about the tasks of the client's message.
// The gateway drops those about other tasks, and those for an input of an unlisted kind.
func TestNotificationsNameKnownTasks(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	token := tokenFor(t, g, reader, bothScopes)
	s.set("tools/call", modernTask)
	_, text := raw(t, g, path, token, call("search_issues"), modern("tools/call", "search_issues")...)
	id := idIn(t, text)
	s.set("subscriptions/listen", strings.Join([]string{
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":["t.1"]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t.1","status":"working"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t.2","status":"of another"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"t\u0061skId":"t.2","status":"of another"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t.1","status":"wanting","inputRequests":{"a":{"method":"roots/list"}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t.1","status":"completed"}}`,
	}, "\n"))
	_, text = raw(t, g, path, token, request("subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]}`), modern("subscriptions/listen", "")...)
	if strings.Count(text, id) != 3 || strings.Contains(text, "t.1") || strings.Contains(text, "t.2") || strings.Contains(text, "of another") || strings.Contains(text, "wanting") || !strings.Contains(text, "completed") {
		t.Errorf("the stream: %s", text)
	}
}

// TestALegacyTaskHasASealedID guarantees the same for a session: a call as a task, its status, its result with requests to
// the client, the client's answer, and no list of tasks, which is of all callers. The stream of the session has no task.
func TestALegacyTaskHasASealedID(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, strings.Replace(rows, `"pin"`, `"server_requests": ["elicitation"], "pin"`, 1)))
	token := tokenFor(t, g, reader, bothScopes)
	resp, text := raw(t, g, path, token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	session := []string{"Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25"}
	if session[1] == "" {
		t.Fatalf("no session: %d %s", resp.StatusCode, text)
	}
	ask := func(body string) (int, string) {
		resp, text := raw(t, g, path, token, body, session...)
		return resp.StatusCode, text
	}
	const related = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t.1"}}`
	s.set("tools/call", strings.Join([]string{
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t.2","status":"of another"}}`,
		`{"jsonrpc":"2.0","id":"ID","result":{"task":{"taskId":"t.1","status":"working"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t.1","status":"known now"}}`,
	}, "\n"))
	_, text = ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_issues","arguments":{},"task":{"ttl":60000}}}`)
	id := idIn(t, text)
	if strings.Contains(text, "of another") || !strings.Contains(text, "known now") {
		t.Errorf("the response alone names the new task: %s", text)
	}
	message := func(method string) string {
		return `{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"taskId":"` + id + `"}}`
	}
	s.set("tasks/get", `{"taskId":"t.1","status":"working"}`)
	if _, text := ask(message("tasks/get")); idIn(t, text) != id {
		t.Errorf("tasks/get: %s", text)
	}
	s.set("tasks/result", `{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"sure?",`+related+`}}`+"\n"+
		`{"jsonrpc":"2.0","id":"ID","result":{"content":[{"type":"text","text":"done"}],`+related+`}}`)
	_, text = ask(message("tasks/result"))
	if idIn(t, text) != id || !strings.Contains(text, "sure?") || !strings.Contains(text, "done") {
		t.Errorf("tasks/result: %s", text)
	}
	s.got()
	question := between(text, `"jsonrpc":"2.0","id":"`)
	answer := strings.ReplaceAll(`{"jsonrpc":"2.0","id":"`+question+`","result":{"action":"accept",`+related+`}}`, "t.1", id)
	if status, text := ask(answer); status != 202 {
		t.Errorf("the answer: %d %s", status, text)
	}
	if got := s.got(); len(got) != 1 || got[0].body != strings.ReplaceAll(strings.ReplaceAll(answer, id, "t.1"), question, "e") {
		t.Errorf("the server got %+v", got)
	}
	for name, body := range map[string]string{
		"a list":                       `{"jsonrpc":"2.0","id":4,"method":"tasks/list"}`,
		"a prompt as a task":           `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"triage","task":{}}}`,
		"an answer about another task": strings.ReplaceAll(answer, id, "t.1"),
		"an answer by another case":    strings.ReplaceAll(strings.ReplaceAll(answer, id, "t.1"), "related-task", "Related-Task"),
		"another task":                 strings.ReplaceAll(message("tasks/get"), id, "t.1"),
	} {
		if status, text := ask(body); len(s.got()) != 0 {
			t.Errorf("%s reached the server: %d %s", name, status, text)
		}
	}
	s.set("", `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t.1","status":"working"}}`+"\n"+
		`{"jsonrpc":"2.0","id":9,"result":{"inputRequests":{"a":{"method":"roots/list"}}}}`+"\n"+
		`{"jsonrpc":"2.0","id":9,"result":{"task":{"taskId":"t.1"}}}`)
	stream := get(t, g, path, token, session[1], "")
	if text, _ := io.ReadAll(stream.Body); strings.Contains(string(text), "t.1") || strings.Contains(string(text), "inputRequests") || !strings.Contains(string(text), "-32603") {
		t.Errorf("the session's stream: %d %s", stream.StatusCode, text)
	}
}

// TestAResumedStreamKnowsItsTask guarantees the response on a resumed stream: of a call as a task, and of the question for the
// task's result. Both name the task by one id of the client.
func TestAResumedStreamKnowsItsTask(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct{ Method string }
		_ = json.NewDecoder(r.Body).Decode(&call) // a GET has no body
		events := map[string]string{
			"tools/call":   "id: call\ndata:\n\n",
			"call":         `data: {"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t.1","status":"working"}}}` + "\n\n",
			"tasks/result": "id: result\ndata:\n\n",
			"result": `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t.1"}}}}` + "\n\n" +
				`data: {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t.2","status":"of another"}}` + "\n\n",
		}[call.Method+r.Header.Get("Last-Event-ID")]
		if events == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events)
	}))
	t.Cleanup(server.Close)
	g := startOn(t, server.URL, policiesWith(t, rows))
	token := tokenFor(t, g, reader, bothScopes)
	resumed := func(body string) string {
		_, text := raw(t, g, path, token, body, "MCP-Protocol-Version", "2025-11-25")
		match := eventID.FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("%q", text)
		}
		rest, err := io.ReadAll(get(t, g, path, token, "", match[1]).Body)
		if err != nil {
			t.Error(err)
		}
		return string(rest)
	}
	id := idIn(t, resumed(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_issues","arguments":{},"task":{"ttl":60000}}}`))
	text := resumed(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"` + id + `"}}`)
	if idIn(t, text) != id || !strings.Contains(text, "done") || strings.Contains(text, "of another") {
		t.Errorf("%q", text)
	}
}

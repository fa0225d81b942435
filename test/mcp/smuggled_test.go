package mcp_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestNoListComesByAnotherStream guarantees that the gateway narrows lists on the stream of a session, also two in one
// result. A list with two readings ends the stream. A client takes such a response for the one to its request.
func TestNoListComesByAnotherStream(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	g := startOn(t, s.url, policiesWith(t, rows))
	token := tokenFor(t, g, reader, bothScopes)
	resp, _ := raw(t, g, path, token, legacyStart)
	session := resp.Header.Get("Mcp-Session-Id")
	const may, hidden = `{"name":"search_issues"}`, `{"name":"drop_database","description":"hidden"}`
	for name, c := range map[string]struct {
		result string
		passes bool
	}{
		"a list":              {`"tools":[` + may + `,` + hidden + `]`, true},
		"two lists":           {`"tools":[` + may + `],"prompts":[` + hidden + `]`, true},
		"the other way round": {`"prompts":[{"name":"triage"}],"tools":[` + hidden + `]`, true},
		"twice in a list":     {`"tools":[` + hidden + `,` + hidden + `]`, false},
		"no name":             {`"tools":[{"title":"hidden"}]`, false},
		"another case":        {`"Tools":[` + hidden + `]`, false},
		"beside one":          {`"tools":[],"Tools":[` + hidden + `]`, false},
		"no array":            {`"tools":{"0":` + hidden + `}`, false},
		"an odd cursor":       {`"tools":[` + hidden + `],"nextCursor":1`, false},
		"no list":             {`"content":[{"type":"text","text":"done"}]`, true},
	} {
		s.set("", `{"jsonrpc":"2.0","id":7,"result":{`+c.result+`}}`)
		text, err := io.ReadAll(get(t, g, path, token, session, "").Body)
		if strings.Contains(string(text), "hidden") || strings.Contains(string(text), `"result"`) != c.passes {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
}

// TestAHeaderOfAnArgumentNeedsTheArgument guarantees that Mcp-Param headers reach the server beside their arguments alone. A
// proxy of the server may go by them.
func TestAHeaderOfAnArgumentNeedsTheArgument(t *testing.T) {
	t.Parallel()
	s := newTasker(t)
	policies := policiesWithRules(t, rows, searchRules)
	harness.WriteFile(t, filepath.Join(policies, "mcp", "issues", "schema", "data.json"), `{"search_issues": {"type": "object", "properties": {"q": {"type": "string", "x-mcp-header": "Q"}}}}`)
	g := startOn(t, s.url, policies)
	token := tokenFor(t, g, reader, bothScopes)
	s.set("tools/call", modernTask)
	s.set("tasks/get", modernTask)
	_, text := raw(t, g, path, token, call("search_issues"), append(modern("tools/call", "search_issues"), "Mcp-Param-Q", "x")...)
	id := idIn(t, text)
	if got := s.got(); len(got) != 1 || got[0].header.Get("Mcp-Param-Q") != "x" {
		t.Errorf("the call: %+v", got)
	}
	_, text = raw(t, g, path, token, request("tasks/get", `"taskId":"`+id+`"`), append(modern("tasks/get", id), "Mcp-Param-Q", "another")...)
	if got := s.got(); len(got) != 1 || got[0].header.Get("Mcp-Param-Q") != "" {
		t.Errorf("its task: %s %+v", text, got)
	}
}

// TestNoEventHidesInALine guarantees that no client gets the line ends of some clients inside a line of a stream.
func TestNoEventHidesInALine(t *testing.T) {
	t.Parallel()
	const hidden = "\u2028data: hidden\u2028\u2028"
	u := newRecorder(t, 200, ": "+hidden+"\nevent: message"+hidden+"\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done"+hidden+"\"}]}}\n\n", "Content-Type", "text/event-stream")
	g := startOn(t, u.url, policiesWith(t, rows))
	_, text := raw(t, g, path, tokenFor(t, g, reader, bothScopes), call("search_issues"), modern("tools/call", "search_issues")...)
	if strings.Contains(text, "\u2028") || strings.Count(text, "hidden") != 1 || !strings.Contains(text, `done\u2028data: hidden\u2028\u2028"`) {
		t.Errorf("%q", text)
	}
}

// TestOneMessageIsTheResponse guarantees −32603 for a request or a notification of the server in place of its response.
func TestOneMessageIsTheResponse(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`} {
		u := newRecorder(t, 200, sent)
		g := startOn(t, u.url, policiesWith(t, strings.Replace(rows, `"pin"`, `"server_requests": ["elicitation"], "pin"`, 1)))
		resp, text := raw(t, g, path, tokenFor(t, g, reader, bothScopes), call("search_issues"), modern("tools/call", "search_issues")...)
		if resp.StatusCode != 200 || !strings.Contains(text, "-32603") || strings.Contains(text, `"method"`) {
			t.Errorf("%s: %d %s", sent, resp.StatusCode, text)
		}
	}
}

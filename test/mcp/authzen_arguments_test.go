package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// aboutArguments asks AuthZEN about a call of a tool with arguments, and returns the whole answer.
func aboutArguments(t *testing.T, g *harness.Gateway, token, user, kind, tool, arguments string) harness.Reply {
	t.Helper()
	q := rowQuestion(user, places[2], "issues", kind, map[string]string{"tool": tool, "mcp_server": "issues"}[kind], "", map[string]string{"tool": "tools/call", "mcp_server": "tools/" + tool}[kind])
	q["context"] = map[string]any{"arguments": json.RawMessage(arguments)}
	return authzen(t, g, "evaluation", token, q)
}

// TestArgumentsInAuthZENAreJudgedAsAtTheDoor guarantees for random arguments the door's decision and words. A failing rule
// is a 503. No record quotes an argument.
func TestArgumentsInAuthZENAreJudgedAsAtTheDoor(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startOn(t, u.url, policiesWithRules(t, rows, searchRules), "--decision-log", "required")
	token, service, random := tokenFor(t, g, admin, bothScopes), g.ServiceToken(t, resources.ServiceScopeCheck), newRandom(t)
	outcomes := map[string]int{}
	for range 120 {
		one := func(list ...string) string { return list[random.IntN(len(list))] }
		tool := one("search_issues", "search_issues", "search_issues", "merge_pull_request")
		arguments := fmt.Sprintf(`{%q:%s,%q:%s}`, one("q", "q", "q", "q", "Q", "r"), one(`"a"`, `"secret-plan"`, `"most 7"`, `"most 101"`, `"most hunter2222"`, "7", "null"),
			one("limit", "limit", "Limit"), one("1", "1", "1", "1", "1.5", `"x"`, "1e999", `{"a":[]}`))
		before := len(u.called())
		_, door := raw(t, g, path, token, callWith(tool, arguments), modern("tools/call", tool)...)
		made := len(u.called()) > before
		kind := one("tool", "mcp_server")
		r := aboutArguments(t, g, service, admin, kind, tool, arguments)
		reason, _ := harness.At(r.Body, "context", "reason").(string)
		quoted, _ := json.Marshal(strings.ReplaceAll(reason, "context.arguments", "params.arguments"))
		outcome := "allowed"
		switch decision := r.Body["decision"]; {
		case strings.Contains(door, "-32603"):
			if outcome = "undecided"; r.Status != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s, the door %s", arguments, r.Status, r.Raw, door)
			}
		case r.Status != 200 || decision != made:
			t.Errorf("%s %s %s: %d %s, the door %s", kind, tool, arguments, r.Status, r.Raw, door)
		case !made:
			if outcome = "denied"; !strings.Contains(door, strings.Trim(string(quoted), `"`)) {
				t.Errorf("%s: the reason %q, the door %s", arguments, reason, door)
			}
		}
		outcomes[outcome]++
	}
	if outcomes["allowed"] < 5 || outcomes["denied"] < 5 || outcomes["undecided"] == 0 {
		t.Errorf("the arguments are one-sided: %v", outcomes)
	}
	text, records := export(t, g)
	codes := map[string]int{}
	for _, record := range records["authz/decision"] {
		codes[record.Result.Code]++
	}
	if codes["argument_denied"] == 0 || codes["invalid_arguments"] == 0 {
		t.Errorf("the records of the questions have the codes %v", codes)
	}
	for _, value := range []string{"secret-plan", "hunter2222", "at most 100"} {
		if strings.Contains(text, value) || strings.Contains(g.Stderr.String(), value) {
			t.Errorf("%q is in the records or in the log", value)
		}
	}
}

// TestArgumentsComeAfterTheRole guarantees the order role, arguments, approval: without the role for a tool nobody learns
// of its rules. A search takes no arguments.
func TestArgumentsComeAfterTheRole(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	row := strings.Replace(rows, `"search_issues": {`, `"search_issues": {"approval": "each_call", `, 1)
	g := startOn(t, u.url, policiesWithRules(t, row, searchRules))
	service := g.ServiceToken(t, resources.ServiceScopeCheck)
	for name, c := range map[string]struct{ user, kind, arguments, want string }{
		"a stranger":      {stranger, "tool", `{"q":"secret"}`, "no active role of the user lets them use the tool"},
		"denied":          {admin, "tool", `{"q":"secret"}`, "must not search for secret"},
		"unfit":           {admin, "tool", `{}`, "context.arguments: missing property"},
		"not approved":    {admin, "tool", `{"q":"a"}`, "needs an approval"},
		"a list shows it": {admin, "mcp_server", `{"q":"a"}`, `"decision":true`},
		"of a list":       {admin, "mcp_server", `{"q":"secret"}`, "must not search for secret"},
		"twice":           {admin, "tool", `{"q":"a","q":"secret"}`, "stands twice"},
		"too deep":        {admin, "tool", `{"q":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "nested"},
	} {
		if r := aboutArguments(t, g, service, c.user, c.kind, "search_issues", c.arguments); !strings.Contains(string(r.Raw), c.want) {
			t.Errorf("%s: %d %s, want %s", name, r.Status, r.Raw, c.want)
		}
	}
	q := rowQuestion(admin, places[2], "issues", "mcp_server", "issues", "", nil)
	q["context"] = map[string]any{"arguments": map[string]any{"q": "a"}}
	if r := authzen(t, g, "search/action", service, q); r.Status != 400 || !strings.Contains(string(r.Raw), "context.arguments: must not be sent: a search") {
		t.Errorf("a search: %d %s", r.Status, r.Raw)
	}
}

// TestHostileArgumentsInAuthZENAreDenied guarantees a denial with the problem for arguments that no server reads as meant. A
// batch judges each question with its own arguments. The document of the API has each answer.
func TestHostileArgumentsInAuthZENAreDenied(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startOn(t, u.url, policiesWithRules(t, rows, searchRules))
	service := g.ServiceToken(t, resources.ServiceScopeCheck)
	for name, c := range map[string]struct{ arguments, want string }{
		"many values":       {`{"q":"a","x":[` + strings.Repeat("0,", 10_000) + `0]}`, "must have at most 10000 values"},
		"a long number":     {`{"q":"a","limit":` + strings.Repeat("9", 129) + `}`, "must have numbers of at most 128 characters"},
		"a large exponent":  {`{"q":"a","limit":1e401}`, "with an exponent of at most 400"},
		"a small exponent":  {`{"q":"a","limit":1e-401}`, "with an exponent of at most 400"},
		"deep for the type": {`{"q":` + strings.Repeat("[", 27) + strings.Repeat("]", 27) + `}`, "context.arguments.q: got array, want string"},
		"a null":            {`{"q":null}`, "context.arguments.q: got null, want string"},
		"another case":      {`{"q":"a","Q":"secret"}`, `context.arguments.Q: must be spelt \"q\"`},
		"a fraction":        {`{"q":"a","limit":1.5}`, "context.arguments.limit"},
		"by an escape":      {`{"\u0071":"secret"}`, "must not search for secret"},
	} {
		for _, kind := range []string{"tool", "mcp_server"} {
			r := aboutArguments(t, g, service, admin, kind, "search_issues", c.arguments)
			if r.Status != 200 || r.Body["decision"] != false || !strings.Contains(string(r.Raw), c.want) {
				t.Errorf("%s, %s: %d %.300s", name, kind, r.Status, r.Raw)
			}
		}
	}
	q := rowQuestion(admin, places[2], "issues", "tool", "search_issues", "", "tools/call")
	q["context"] = map[string]any{"arguments": json.RawMessage(`{"q":"secret"}`)}
	q["evaluations"] = []any{
		map[string]any{},
		map[string]any{"context": map[string]any{"arguments": json.RawMessage(`{"q":"a"}`)}},
		map[string]any{"context": map[string]any{"arguments": nil}},
		map[string]any{"resource": map[string]any{"type": "prompt", "id": "triage", "properties": map[string]any{"server": "issues"}}},
	}
	r := authzen(t, g, "evaluations", service, q)
	items, _ := r.Body["evaluations"].([]any)
	var decided []any
	for _, item := range items {
		one, _ := item.(map[string]any)
		decided = append(decided, one["decision"])
	}
	if fmt.Sprint(decided) != "[false true false false]" || strings.Count(string(r.Raw), `"status":400`) != 2 {
		t.Errorf("a batch: %s", r.Raw)
	}
}

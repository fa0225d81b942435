package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// searchRules deny some searches. The last one fails for a word that is not a number.
const searchRules = `package tools.issues

# METADATA
# schemas:
#   - input.arguments: schema.tools.issues.search_issues
deny contains sprintf("%s must not search for %s", [input.user.id, input.arguments.q]) if {
	input.tool == "search_issues"
	startswith(input.arguments.q, "secret")
}

deny contains "at most 100" if {
	startswith(input.arguments.q, "most ")
	to_number(trim_prefix(input.arguments.q, "most ")) > 100
}
`

const searchSchemas = `{"search_issues": {"type": "object", "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["q"]}}`

// policiesWithRules is the tree with the server, the schema of search_issues, and rules over arguments.
func policiesWithRules(t testing.TB, row, rules string) string {
	t.Helper()
	policies := policiesWith(t, row)
	for name, text := range map[string]string{"mcp/issues/schema/data.json": searchSchemas, "tools/issues/rules.rego": rules} {
		file := filepath.Join(policies, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		harness.WriteFile(t, file, text)
	}
	return policies
}

// TestRulesOverArgumentsDenyCalls guarantees that the server gets no call with denied or unfit arguments, or with a failing
// rule. The records have the code, and nothing quotes a value.
func TestRulesOverArgumentsDenyCalls(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startOn(t, u.url, policiesWithRules(t, rows, searchRules), "--decision-log", "required")
	token := tokenFor(t, g, admin, bothScopes)
	codes := []string{}
	for _, c := range []struct{ tool, arguments, want, code, retry string }{
		{"search_issues", `{"q":"a"}`, `done search_issues`, "", ""},
		{"search_issues", `{"q":"most 100"}`, `done search_issues`, "", ""},
		{"merge_pull_request", `{"q":5}`, `done merge_pull_request`, "", ""}, // it has no schema
		{"search_issues", `{"q":"secret-plan"}`, `"code":-32001,"message":"Denied: user-admin-v1 must not search for secret-plan"`, "argument_denied", ""},
		{"search_issues", `{"q":"most 101"}`, `"message":"Denied: at most 100"`, "argument_denied", ""},
		{"search_issues", `{"q":"most hunter2222"}`, `"code":-32603`, "undecided", ""},
		{"search_issues", `{"q":7,"limit":"x","Limit":1}`, `"code":-32602,"message":"Invalid arguments: params.arguments.Limit: must be spelt \"limit\"; ` +
			`params.arguments.limit: got string, want integer; params.arguments.q: got number, want string"`, "invalid_arguments", ""},
		{"search_issues", `{}`, `params.arguments: missing property 'q'`, "invalid_arguments", ""},
		{"search_issues", `{"q":"a","limit":1e999}`, `numbers of at most 128 characters`, "invalid_arguments", ""},
	} {
		before := len(u.called())
		resp, text := raw(t, g, path, token, callWith(c.tool, c.arguments), modern("tools/call", c.tool)...)
		made := len(u.called()) - before
		if resp.StatusCode != 200 || !strings.Contains(text, c.want) || made != map[bool]int{true: 1}[c.code == ""] || resp.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s %q, %d calls; want %s", c.arguments, resp.StatusCode, text, resp.Header.Get("Retry-After"), made, c.want)
		}
		if strings.HasPrefix(c.code, "a") || strings.HasPrefix(c.code, "i") {
			if !strings.Contains(text, `"code":"`+c.code+`"`) {
				t.Errorf("%s: %s; want %s", c.arguments, text, c.code)
			}
		}
		codes = append(codes, c.code)
	}
	_, listed := raw(t, g, path, token, request("tools/list", ""), modern("tools/list", "")...)
	if !strings.Contains(listed, "search_issues") {
		t.Errorf("lists are narrowed by arguments: %s", listed)
	}
	log := g.Stderr.String()
	text, records := export(t, g)
	for i, record := range records["mcp/call"] {
		if record.Result.Code != codes[i] || *record.Result.Allow != (codes[i] == "") {
			t.Errorf("record %d: %+v, want %q", i, record, codes[i])
		}
	}
	if len(records["mcp/call"]) != len(codes) {
		t.Errorf("%d records", len(records["mcp/call"]))
	}
	for _, value := range []string{"secret-plan", "hunter2222", "at most 100"} {
		if strings.Contains(text, value) || strings.Contains(log, value) {
			t.Errorf("%q is in the records or in the log", value)
		}
	}
}

// TestDeniedArgumentsAreResultsWhereTheServerSaysSo guarantees results with isError, so that a model can correct the call.
func TestDeniedArgumentsAreResultsWhereTheServerSaysSo(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, true)
	g := startOn(t, u.url, policiesWithRules(t, strings.Replace(rows, `"pin": "names"`, `"pin": "names", "denial": "result"`, 1), searchRules))
	session := connect(t, g, tokenFor(t, g, reader, bothScopes))
	for arguments, want := range map[string]string{`{"q":"secret"}`: "Denied: " + reader + " must not search for secret", `{"q":1}`: "Invalid arguments: params.arguments.q: got number, want string"} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_issues", Arguments: json.RawMessage(arguments)})
		if err != nil || !result.IsError {
			t.Fatalf("%+v, %v", result, err)
		}
		if text, _ := json.Marshal(result.Content); !strings.Contains(string(text), want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
	if len(u.called()) != 0 {
		t.Errorf("the server was called: %v", u.called())
	}
}

// TestAMisspeltArgumentDoesNotStart guarantees that no gateway starts on a tree with a rule over a misspelt argument.
func TestAMisspeltArgumentDoesNotStart(t *testing.T) {
	t.Parallel()
	policies := policiesWithRules(t, rows, strings.Replace(searchRules, "startswith(input.arguments.q,", "startswith(input.arguments.query,", 1))
	o := harness.Command(t, nil, "serve", "--policy-dir", policies, "--data-dir", t.TempDir(), "--public-url", publicURL, "--upstream", "github=http://127.0.0.1:1")
	if o.Code == 0 || !strings.Contains(o.Stdout+o.Stderr, "undefined ref: input.arguments.query") {
		t.Errorf("%+v", o)
	}
	o = harness.Command(t, nil, "policy", "check", policiesWithRules(t, rows, "package tools.issues\n\ndeny contains \"x\" if input.agent.named\n"))
	if o.Code != 0 || !strings.Contains(o.Stdout, "warning: tools/issues/rules.rego:3: deny reads no argument") {
		t.Errorf("%+v", o)
	}
}

// TestRulesKnowTheAgent guarantees that rules see whether an agent calls, and the id of a registered one. Without
// a user the user has no id.
func TestRulesKnowTheAgent(t *testing.T) {
	t.Parallel()
	s := newAgentSceneOn(t, policiesWithRules(t, strings.Replace(rows, `"pin": "names"`, `"pin": "names", "autonomous": true`, 1), `package tools.issues

deny contains sprintf("%v %q %s %s", [input.agent.named, input.agent.id, input.user.id, input.target.project]) if input.arguments.q == "who"
`))
	for client, want := range map[string]string{"": `false \"\"`, "stranger": `true \"\"`} {
		if a := s.ask(t, agentPath, s.token(t, client), "search_issues", `{"q":"who"}`); !strings.Contains(a.text, want+" "+harness.OutsideAdmin+" proj-outside-v1") {
			t.Errorf("%q: %s", client, a.text)
		}
	}
	id := s.register(t, "helper")
	s.api(t, 200, "PUT", "/roles/project_reader/assignments/"+id, `{"assigneeType":"AGENT","projectId":"proj-outside-v1"}`)
	if a := s.ask(t, agentPath, s.token(t, "helper"), "search_issues", `{"q":"who"}`); !strings.Contains(a.text, `true \"`+id+`\"`) {
		t.Errorf("%s", a.text)
	}
	if a := s.ask(t, alonePath, s.alone(t, "helper"), "search_issues", `{"q":"who"}`); !strings.Contains(a.text, `true \"`+id+`\"  proj-outside-v1`) {
		t.Errorf("without a user: %s", a.text)
	}
}

// TestNewRulesEndAnOpenStream guarantees the end of a call's stream once a rule denies its arguments. The stream of other
// arguments goes on.
func TestNewRulesEndAnOpenStream(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	policies := policiesWithRules(t, rows, searchRules)
	g := startOn(t, server.URL, policies)
	token := tokenFor(t, g, reader, bothScopes)
	open := func(q string) chan struct{} {
		ended := make(chan struct{})
		resp := streaming(t.Context(), t, g, path, token, callWith("search_issues", `{"q":"`+q+`"}`), modern("tools/call", "search_issues"))
		go func() {
			_, _ = io.Copy(io.Discard, resp.Body)
			close(ended)
		}()
		return ended
	}
	denied, allowed := open("budget"), open("weather")
	select {
	case <-denied:
		t.Fatal("the stream has ended")
	case <-time.After(1200 * time.Millisecond): // it is judged twice meanwhile
	}
	harness.WriteFile(t, filepath.Join(policies, "tools", "issues", "rules.rego"), strings.Replace(searchRules, `"secret"`, `"budget"`, 1))
	select {
	case <-denied:
	case <-time.After(20 * time.Second):
		t.Error("the stream goes on")
	}
	select {
	case <-allowed:
		t.Error("the stream of other arguments has ended")
	default:
	}
}

// TestACallWithAnyArgumentsIsListed guarantees for random arguments and rules: the list has the tool of each allowed call,
// and authorization.check allows it. The rules deny all calls that they name.
func TestACallWithAnyArgumentsIsListed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	u := newUpstream(t, true)
	words := []string{"a", "b", "c", "d", "e", "f"}
	named := map[string]bool{}
	rules := "package tools.issues\n"
	for range 5 {
		tool, word := toolName(random.IntN(len(toolActions))), words[random.IntN(len(words))]
		named[tool+word] = true
		rules += fmt.Sprintf("\ndeny contains \"no %[2]s\" if {\n\tinput.tool == %[1]q\n\tinput.arguments.q == %[2]q\n}\n", tool, word)
	}
	policies := policiesWithRules(t, manyTools(t, u), rules)
	if err := os.RemoveAll(filepath.Join(policies, "mcp", "issues", "schema")); err != nil {
		t.Fatal(err)
	}
	g := startOn(t, u.url, policies)
	users := randomUsers(t, g, random)
	service, counted := g.ServiceToken(t, "authz:check"), map[string]int{}
	for range pairs {
		user, n, word := users[random.IntN(len(users))], random.IntN(len(toolActions)), words[random.IntN(len(words))]
		place := places[2]
		before := len(u.called())
		_, text := raw(t, g, "/mcp/"+place+"/issues", user.tokens[place], callWith(toolName(n), `{"q":"`+word+`"}`), modern("tools/call", toolName(n))...)
		called := len(u.called()) > before
		asked := place
		if strings.HasPrefix(toolActions[n], "account:") {
			asked = places[0]
		}
		r := harness.Call(t, http.MethodPost, g.URL+"/api/v1/authorize/"+asked+"/mcp/issues/tools/"+toolName(n), service, "",
			"x-user-id", user.id, "x-account-id", account, "x-action", toolActions[n])
		_, list := raw(t, g, "/mcp/"+place+"/issues", user.tokens[place], request("tools/list", ""), modern("tools/list", "")...)
		listed := strings.Contains(list, `"`+toolName(n)+`"`)
		byRoles := r.Body["allowed"] == true
		if called && (!listed || !byRoles) || called != (byRoles && !named[toolName(n)+word]) || listed != byRoles {
			t.Errorf("%s, %s %s: called %v, listed %v, check %v: %s", user.id, toolName(n), word, called, listed, byRoles, text)
		}
		counted[fmt.Sprint(called, byRoles)]++
	}
	if counted["true true"] == 0 || counted["false true"] == 0 {
		t.Errorf("the calls are one-sided: %v", counted)
	}
}

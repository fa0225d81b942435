package mcp_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// readingRules deny numbers of a tool without a schema, and of one with a schema.
const readingRules = `package tools.issues

deny contains "never seven" if {
	input.tool == "merge_pull_request"
	input.arguments.number == 7
}

deny contains "never that one" if {
	input.tool == "search_issues"
	input.arguments.limit == 9007199254740992
}

deny contains "under 100" if {
	input.tool == "search_issues"
	input.arguments.limit >= 100
	input.arguments.limit < 101
}
`

// TestRulesHoldForWhatServersRead guarantees a denial of numbers whose doubles are denied, and of a second member in
// another case. Ids of 64 bits pass as they were sent.
func TestRulesHoldForWhatServersRead(t *testing.T) {
	t.Parallel()
	u := newRecorder(t, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`)
	policies := policiesWithRules(t, rows, readingRules)
	g := startOn(t, u.url, policies)
	token := tokenFor(t, g, admin, bothScopes)
	for _, c := range []struct{ tool, arguments, want string }{
		{"merge_pull_request", `{"number":7}`, "Denied: never seven"},
		{"merge_pull_request", `{"number":7.0000000000000000001}`, "Denied: never seven"},
		{"merge_pull_request", `{"number":6.9999999999999999999}`, "Denied: never seven"},
		{"merge_pull_request", `{"number":70e-1}`, "Denied: never seven"},
		{"merge_pull_request", `{"number":1e309}`, "params.arguments: must have numbers within the range of doubles"},
		{"merge_pull_request", `{"number":1,"Number":7}`, `params.arguments: must not have both \"Number\" and \"number\", which differ in case alone`},
		{"merge_pull_request", `{"number":1,"a":[{"n":1,"N":7}]}`, `params.arguments.a.0: must not have both \"N\" and \"n\"`},
		{"merge_pull_request", `{"number":9007199254740993}`, "done"},
		{"merge_pull_request", `{"number":7.5e0,"id":1152921504606846977}`, "done"},
		{"search_issues", `{"q":"a","limit":9007199254740992}`, "Denied: never that one"},
		{"search_issues", `{"q":"a","limit":9007199254740993}`, "Denied: never that one"},
		{"search_issues", `{"q":"a","limit":99.99999999999999999999}`, "params.arguments.limit: got number, want integer"},
		{"search_issues", `{"q":"a","limit":100.0}`, "Denied: under 100"},
		{"search_issues", `{"q":"a","limit":9007199254740995}`, "done"},
		{"search_issues", `{"q":"a","Limit":1}`, `params.arguments.Limit: must be spelt \"limit\"`},
	} {
		before := len(u.requests())
		_, text := raw(t, g, path, token, callWith(c.tool, c.arguments), modern("tools/call", c.tool)...)
		got := u.requests()[before:]
		if !strings.Contains(text, c.want) || len(got) != map[bool]int{true: 1}[c.want == "done"] {
			t.Errorf("%s: %s, %q; want %s", c.arguments, text, got, c.want)
		}
		if len(got) == 1 && !strings.Contains(got[0], c.arguments) {
			t.Errorf("%s: the server got %s", c.arguments, got[0])
		}
	}
	o := harness.Command(t, nil, "policy", "check", policies)
	if o.Code != 0 || !strings.Contains(o.Stdout, "warning: tools/issues/rules.rego:3: deny reads arguments of tools without a schema (merge_pull_request)") || strings.Count(o.Stdout, "warning:") != 1 {
		t.Errorf("%+v", o)
	}
}

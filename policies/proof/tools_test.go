package proof_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// ticketRows is a server with a dash in its name and a tool with a dot in its name.
const ticketRows = `{"upstream": "d", "pin": "names", "tools": {
	"close.ticket": {"action": "project:desk:close", "effect": "write"}, "open": {"action": "project:desk:open", "effect": "read"}}}`

const ticketSchemas = `{"close.ticket": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {
	"reason": {"type": "string"}, "refund": {"$ref": "#/$defs/money"}}, "$defs": {"money": {"type": "object", "properties": {"amount": {"type": "number"}}}}},
	"open": {"type": "object", "properties": {"queue": {"type": "string"}}}}`

const named = "# METADATA\n# schemas:\n#   - input.arguments: schema.tools[\"my-desk\"][\"close.ticket\"]\n"

// withTools returns the small tree with the tickets' server and rules over its arguments.
func withTools(t *testing.T, rules string) policytest.Tree {
	return serving(t, "my-desk", ticketRows).With("mcp/my-desk/schema/data.json", ticketSchemas).
		With("tools/my-desk/rules.rego", "package tools[\"my-desk\"]\n\n"+rules+"\n")
}

// TestRulesOverArgumentsAreCheckedAgainstTheSchemas guarantees that a misspelt argument or member of the input does not
// compile, with or without an annotation, in a server and a tool of any name.
func TestRulesOverArgumentsAreCheckedAgainstTheSchemas(t *testing.T) {
	for rules, want := range map[string]string{
		named + `deny contains "no" if input.arguments.refund.amount > 100`:            "",
		`deny contains "no" if { args := input.arguments; args.reason == "" }`:         "",
		`deny contains "no" if { some name, value in input.arguments; value == name }`: "",
		`deny contains "no" if input.arguments[input.agent.id] == input.user.id`:       "",

		named + `deny contains "no" if input.arguments.refund.amuont > 100`:                                                                  "undefined ref: input.arguments.refund.amuont",
		named + `deny contains "no" if input.arguments.queue == "x"`:                                                                         "undefined ref: input.arguments.queue",
		named + `deny contains "no" if startswith(input.arguments.refund, "x")`:                                                              "startswith: invalid argument",
		`deny contains "no" if { args := input.arguments; args.raeson == "" }`:                                                               "undefined ref: args.raeson",
		`deny contains "no" if input.arguments.raeson == ""`:                                                                                 "undefined ref: input.arguments.raeson",
		`deny contains "no" if { input.arguments.reason; input.agent.client }`:                                                               "undefined ref: input.agent.client",
		`deny contains "no" if { input.arguments.reason; input.subject.id }`:                                                                 "undefined ref: input.subject.id",
		"# METADATA\n# schemas:\n#   - input.arguments: schema.tools[\"my-desk\"].closed\n" + `deny contains "no" if input.arguments.reason`: "undefined schema",
	} {
		_, err := load(t, withTools(t, rules))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v\nwant %q", rules, err, want)
		}
	}
	open := withTools(t, `deny contains "no" if input.arguments.raeson == ""`)
	for schemas, want := range map[string]bool{
		`{"open": {"type": "object", "properties": {"queue": {}}}}`:                                                                            true, // close.ticket has any arguments
		strings.Replace(ticketSchemas, `"type": "object", "properties": {"queue"`, `"additionalProperties": true, "properties": {"queue"`, 1):  true,
		strings.Replace(ticketSchemas, `"type": "object", "properties": {"queue"`, `"additionalProperties": false, "properties": {"queue"`, 1): false,
	} {
		if _, err := load(t, open.With("mcp/my-desk/schema/data.json", schemas)); (err == nil) != want {
			t.Errorf("%s: %v", schemas, err)
		}
	}
}

// TestRulesOverArgumentsOnlyDeny guarantees that a package of rules stands in the folder of a server of the tree, and has
// a set of denials.
func TestRulesOverArgumentsOnlyDeny(t *testing.T) {
	fine := withTools(t, `deny contains "no" if input.arguments.reason == ""`)
	file := "tools/my-desk/rules.rego"
	for name, c := range map[string]struct {
		tree policytest.Tree
		want string
	}{
		"fine":                    {fine, ""},
		"helpers and data":        {fine.With("tools/my-desk/more.rego", "package tools[\"my-desk\"]\n\nallow := data.tools[\"my-desk\"].most > 3\n").With("tools/my-desk/data.json", `{"most": 5}`), ""},
		"an unknown server":       {fine.With("tools/other/a.rego", "package tools.other\n\ndeny contains \"a\" if input.arguments.a\n"), `tools/other: the tree has no MCP server "other": add mcp/other/data.json`},
		"no server at all":        {fine.Without("mcp/my-desk/data.json").Without("mcp/my-desk/schema/data.json"), `the tree has no MCP server "my-desk"`},
		"another package":         {fine.With(file, "package tools.desk\n\ndeny contains \"a\" if input.arguments.reason\n"), file + `:1: the package must be tools["my-desk"], not data.tools.desk`},
		"a package below":         {fine.With("tools/my-desk/b.rego", "package tools[\"my-desk\"].deny\n\nx := 1\n"), `the package must be tools["my-desk"]`},
		"rules elsewhere":         {fine.With("authz/desk.rego", "package tools[\"my-desk\"]\n\ndeny contains \"a\" if input.arguments.reason\n"), "is that of an MCP server: its files are in tools/my-desk"},
		"a file beside":           {fine.With("tools/rules.rego", "package tools\n\nx := 1\n"), "tools/rules.rego: is not in the folder of an MCP server: move it to tools/<name>/"},
		"no rules":                {fine.Without(file).With("tools/my-desk/data.json", `{}`), `tools/my-desk: has no rules: it needs a package tools["my-desk"] with deny`},
		"no deny":                 {fine.With(file, "package tools[\"my-desk\"]\n\nallow if input.arguments.reason\n"), "tools/my-desk: there is no rule deny"},
		"a value":                 {fine.With(file, "package tools[\"my-desk\"]\n\ndeny := {\"a\"} if input.arguments.reason\n"), file + ":3: deny must be a set of messages"},
		"an object":               {fine.With(file, "package tools[\"my-desk\"]\n\ndeny[x] := 1 if x := input.arguments.reason\n"), file + ":3: deny must be a set of messages"},
		"a set below":             {fine.With(file, "package tools[\"my-desk\"]\n\ndeny.a contains \"x\" if input.arguments.reason\n"), file + ":3: deny must be a set of messages"},
		"a function":              {fine.With(file, "package tools[\"my-desk\"]\n\ndeny(x) if input.arguments.reason == x\n"), file + ":3: deny must be a set of messages"},
		"a default":               {fine.With(file, "package tools[\"my-desk\"]\n\ndefault deny := set()\n"), file + ":3: deny must be a set of messages"},
		"an uncompilable schema":  {fine.With("mcp/my-desk/schema/data.json", `{"open": {"properties": {"a": {"pattern": "(?!x)"}}}}`), "schema.open: can't be compiled"},
		"a circle in the schemas": {fine.With("mcp/my-desk/schema/data.json", `{"open": {"$ref": "#"}}`), "schema.open: its references go round in a circle"},
	} {
		if _, err := load(t, c.tree); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v\nwant %q", name, err, c.want)
		}
	}
}

// TestRulesThatReadNoArgumentAreWarnedOf guarantees a warning for each of them, also behind helpers.
func TestRulesThatReadNoArgumentAreWarnedOf(t *testing.T) {
	set := must.Get(load(t, withTools(t, `deny contains "a" if input.tool == "open"
deny contains "b" if input.arguments.reason == ""
deny contains "c" if late
deny contains "d" if empty
deny contains "e" if helper(input)
deny contains "f" if { not empty; input.agent.named }
deny contains "g" if count(input[data.tools["my-desk"].member]) == 0
late if input.now > 5
empty if count(args) == 0
args := input.arguments
helper(x) if x.arguments.reason == ""`).With("tools/my-desk/data.json", `{"member": "arguments"}`)))(t)
	got := strings.Join(proof.IdleRules(set), "\n")
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, "rules.rego:3: deny reads no argument") || !strings.Contains(got, "rules.rego:5: deny reads no argument") {
		t.Errorf("%s", got)
	}
}

// TestRulesOverArgumentsWithoutASchemaAreWarnedOf guarantees a warning for each rule over arguments of tools without a
// schema. It names those to which the rule applies.
func TestRulesOverArgumentsWithoutASchemaAreWarnedOf(t *testing.T) {
	tree := withTools(t, `deny contains "a" if { input.tool == "open"; input.arguments.queue == "" }
deny contains "b" if { "close.ticket" == input.tool; input.arguments.reason == "" }
deny contains "c" if { input.tool in {"open", "close.ticket"}; input.arguments.reason == "" }
deny contains "d" if { tool := input.tool; tool in ["open"]; empty }
deny contains "e" if { startswith(input.tool, "o"); input.arguments.reason == "" }
deny contains "f" if { not input.tool == "open"; input.arguments.reason == "" }
deny contains "g" if { input.tool in {"open", input.user.id}; input.arguments.reason == "" }
deny contains "h" if { input.tool == "close.ticket"; input.agent.named }
deny contains "i" if { input.tool == "open" with input.tool as "open"; input.arguments.reason == "" }
empty if count(input.arguments) == 0`)
	lines := func(schemas string) (out []string) {
		set := must.Get(load(t, tree.With("mcp/my-desk/schema/data.json", schemas)))(t)
		for _, warning := range proof.UnfoldedRules(set) {
			if !strings.Contains(warning, ": deny reads arguments of tools without a schema (close.ticket): it does not see a member in another case") {
				t.Errorf("%s", warning)
			}
			out = append(out, strings.TrimPrefix(warning[:strings.Index(warning, ": deny")], "tools/my-desk/rules.rego:"))
		}
		return out
	}
	if got := lines(`{"open": {"type": "object"}}`); strings.Join(got, " ") != "11 4 5 7 8 9" {
		t.Errorf("%q", got)
	}
	if got := lines(ticketSchemas); got != nil {
		t.Errorf("%q with all schemas", got)
	}
}

// TestTheRulesOfTheDocumentationAreTaken guarantees that Load accepts the files in docs/author/mcp-arguments.md, and no
// misspelt argument in them.
func TestTheRulesOfTheDocumentationAreTaken(t *testing.T) {
	text, err := os.ReadFile("../../docs/author/mcp-arguments.md")
	if err != nil {
		t.Fatal(err)
	}
	tree := serving(t, "desk", `{"upstream": "d", "pin": "names", "tools": {"close_ticket": {"action": "project:desk:close", "effect": "write"}}}`)
	shown := regexp.MustCompile("`((?:tools|mcp)/[^`]+\\.(?:rego|json))`[^\n]*\n(?:[^\n]+\n)*\n```[a-z]+\n((?s:.*?))```\n").FindAllSubmatch(text, -1)
	for _, file := range shown {
		tree = tree.With(string(file[1]), string(file[2]))
	}
	if _, err := load(t, tree); err != nil || len(shown) != 3 {
		t.Errorf("%d files: %v", len(shown), err)
	}
	const rules = "tools/desk/close_ticket.rego"
	_, err = load(t, tree.With(rules, strings.Replace(string(tree[rules].Data), "arguments.refund", "arguments.refnud", 1)))
	if err == nil || !strings.Contains(err.Error(), "undefined ref: input.arguments.refnud") {
		t.Errorf("%v", err)
	}
}

// TestTestsOfRulesOverArgumentsRun guarantees that the tests beside rules run with a reload, and with coverage.
func TestTestsOfRulesOverArgumentsRun(t *testing.T) {
	tree := withTools(t, named+`deny contains "too much" if input.arguments.refund.amount > data.tools["my-desk"].most`).With("tools/my-desk/data.json", `{"most": 5}`)
	const test = "package tools[\"my-desk_test\"]\n\nimport data.tools[\"my-desk\"]\n\n" +
		"test_too_much if \"too much\" in data.tools[\"my-desk\"].deny with input.arguments as {\"refund\": {\"amount\": 6}}\n\n" +
		"test_enough if data.tools[\"my-desk\"].deny == set() with input.arguments as {\"refund\": {\"amount\": 5}}\n"
	fine := tree.With("tools/my-desk/rules_test.rego", strings.Replace(test, "import data.tools[\"my-desk\"]\n\n", "", 1))
	must.Get(load(t, fine))(t)
	if _, err := load(t, fine.With("tools/my-desk/data.json", `{"most": 6}`)); err == nil || !strings.Contains(err.Error(), "test_too_much") {
		t.Errorf("a test that fails: %v", err)
	}
	src := must.Get(policies.Read(fine))(t)
	var out bytes.Buffer
	if passed, err := (proof.TestRun{Run: "my-desk", Coverage: true}).Tests(t.Context(), src, &out); err != nil || !passed || strings.Contains(out.String(), "tools/my-desk/rules.rego: not covered") {
		t.Errorf("%v, %v\n%s", passed, err, out.String())
	}
}

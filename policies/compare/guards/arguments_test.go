package guards_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

const argumentRules = `package tools.desk

deny contains "too much" if over(input.arguments.amount)

deny contains sprintf("not %s", [input.tool]) if input.arguments.queue in closed

over(amount) if amount > data.limits.most

closed := {"hr", "legal"}
`

// TestNoRuleOverArgumentsWeakensUnseen guarantees a row and a gap for each named edit that lets calls in: guards refuse it,
// and --fail-on new-access fails. Rules that are only added, moved or laid out anew have no gap.
func TestNoRuleOverArgumentsWeakensUnseen(t *testing.T) {
	const file = "tools/desk/rules.rego"
	schema := policytest.Copy(t, policies.Tree())["schemas/mcp/schema.json"]
	before := small(t, guard).With("schemas/mcp/schema.json", string(schema.Data)).
		With("mcp/desk/data.json", `{"upstream": "d", "pin": "names", "tools": {"open": {"action": "account:project:list", "effect": "read"}}}`).
		With("limits/data.json", `{"most": 5}`).With(file, argumentRules)
	edit := func(old, text string) policytest.Tree {
		if !strings.Contains(argumentRules, old) {
			t.Fatalf("no %q", old)
		}
		return before.With(file, strings.Replace(argumentRules, old, text, 1))
	}
	for name, c := range map[string]struct {
		next policytest.Tree
		rows string // parts of the rows, with | between them
		gaps int
	}{
		"a rule over arguments is removed":             {edit("deny contains \"too much\" if over(input.arguments.amount)\n", ""), `mcp/desk rule "too much" tools/desk/rules.rego:3 sha256:`, 1},
		"all rules over arguments are removed":         {before.Without(file), `rule ""|rule "too much"`, 2},
		"a rule over arguments has one more condition": {edit("if over(input.arguments.amount)", "if {\n\tover(input.arguments.amount)\n\tinput.agent.named\n}"), `rule "too much"`, 1},
		"a function of a rule over arguments":          {edit("amount > data", "amount > 1 + data"), `rule "too much"`, 1},
		"a list of a rule over arguments":              {edit(`"hr", `, ""), `rule ""`, 1},
		"a document of a rule over arguments":          {before.With("limits/data.json", `{"most": 6}`), `rule "too much"`, 1},
		"another message":                              {edit(`"too much"`, `"much"`), `rule "much"|rule "too much"`, 1},
		"the server with its rules is removed":         {before.Without(file).Without("mcp/desk/data.json"), `rule "too much"`, 2},

		"a rule is added":      {before.With("tools/desk/more.rego", "package tools.desk\n\ndeny contains \"more\" if input.arguments.q\n"), `rule "more"  tools/desk/more.rego:3`, 0},
		"a rule is moved":      {before.Without(file).With("tools/desk/other.rego", argumentRules), "", 0},
		"another layout":       {edit("package tools.desk\n", "package tools.desk\n\n# a comment\n"), "", 0},
		"nothing of the rules": {before.With("other/data.json", `{"a": 1}`), "", 0},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			old, next := compiled(t, before), compiled(t, c.next)
			report, err := diff.Compare(t.Context(), old, next, 1)
			if err != nil {
				t.Fatal(err)
			}
			var rows string
			for _, f := range report.Routes {
				rows += f.Route + " " + f.Field + " " + f.Old + " " + f.New + "\n"
			}
			for part := range strings.SplitSeq(c.rows, "|") {
				if !strings.Contains(rows, part) || c.rows == "" && strings.Contains(rows, "rule") {
					t.Errorf("rows %s, want %s", rows, part)
				}
			}
			if len(report.NotExhaustive) != c.gaps || report.Fails(diff.FailOnNewAccess) != (c.gaps > 0) {
				t.Errorf("gaps %+v", report.NotExhaustive)
			}
			if err := guards.Check(t.Context(), old, next); (err != nil) != (c.gaps > 0) || err != nil && !strings.Contains(err.Error(), "the arguments of tools of desk") {
				t.Errorf("the guards: %v", err)
			}
		})
	}
}

package proof_test

import (
	"context"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestUnknownActionIsRefused guarantees that Load rejects an unknown action anywhere in a rule, with its place. Compile
// warns of it.
func TestUnknownActionIsRefused(t *testing.T) {
	const listed = `{"known": {"project:vm:stop": {"description": "Stops it."}}}`
	for name, rule := range map[string]string{
		"on the right":            `x if input.action.id == "project:vm:halt"`,
		"on the left":             `x if "project:vm:halt" == input.action.id`,
		"in a set":                `x if input.action.id in {"project:vm:stop", "project:vm:halt"}`,
		"in a set of another":     "x if input.action.id in _some\n\n_some := {\"project:vm:halt\"}",
		"looked up":               `x if {"project:vm:halt": true}[input.action.id]`,
		"in the patterns":         `x if "project:vm:halt" in input.action.patterns`,
		"in a function's head":    `x("project:vm:halt")`,
		"in a comprehension":      `x := {a | a := input.action.id; a == "project:vm:halt"}`,
		"among a role's":          `x if data.grants[input.subject.here[0].role].permissions["project:vm:halt"]`,
		"in an else":              "x := 1 if input.now > 3\n\nelse := 2 if input.action.id == \"project:vm:halt\"",
		"of a rule nobody asks":   `_unused if input.action.id != "project:vm:halt"`,
		"of a package of its own": "",
	} {
		t.Run(name, func(t *testing.T) {
			file, tree := "authz/more.rego", listing(t, listed)
			if rule == "" {
				file, rule = "other/more.rego", `x if input.action.id == "project:vm:halt"`
			}
			tree = tree.With(file, "package "+strings.Split(file, "/")[0]+"\n\n"+rule)
			const want = ": action project:vm:halt is unknown: no route or tool has it, and actions/data.json does not list it"
			if _, err := load(t, tree); err == nil || !strings.Contains(err.Error(), file+":") || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			if warnings := warned(t, tree); len(warnings) != 1 || !strings.Contains(warnings[0], want) {
				t.Errorf("warned of %q", warnings)
			}
			if _, err := load(t, tree.With("actions/data.json", strings.ReplaceAll(listed, "stop", "halt"))); err != nil && strings.Contains(err.Error(), "halt") {
				t.Errorf("one that is listed is refused: %v", err)
			}
		})
	}
}

// TestWhatOnlyLooksLikeAnActionIsTaken guarantees that Load accepts the actions of routes, patterns, longer texts,
// scopes, and any action in a test.
func TestWhatOnlyLooksLikeAnActionIsTaken(t *testing.T) {
	tree := policytest.Small(t).With("authz/more.rego", `package authz

x if input.action.id == "account:authorization:check"

x if "project:*:read" in input.action.patterns

x if input.route.name == "see project:vm:halt"

x if input.principal.scopes["service:authz:check"]
`).With("authz/more_test.rego", "package authz_test\n\ntest_more if \"project:vm:halt\" != data.authz.decision.reason with input as {}\n")
	if _, err := load(t, tree); err != nil {
		t.Error(err)
	}
	if warnings := warned(t, tree); len(warnings) != 0 {
		t.Errorf("warned of %q", warnings)
	}
}

func warned(t *testing.T, tree policytest.Tree) []string {
	t.Helper()
	src := must.Get(policies.Read(tree))(t)
	_, warnings := must.Two(proof.Compile(context.Background(), src))(t)
	return warnings
}

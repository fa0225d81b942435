//go:build nightly

package matrix_test

import (
	"os"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/analysis/matrix"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// changed is one change of the embedded tree, and what is to be said of it: "+" new access, "-" lost access, "~"
// another reason, "" nothing.
type changed struct{ name, file, old, fresh, want string }

func sample() []changed {
	return []changed{
		{"a status that is not asked for", "authz/conditions.rego", "\tinput.subject.status == \"ACTIVE\"\n", "", "+"},
		{"the running of an assignment", "authz/roles.rego", "\tassignment.running == true\n", "", "+"},
		{"a deny rule", "authz/decision.rego", "# METADATA\n# title: May the subject", "deny contains \"no deleting\" if input.action.verb == \"delete\"\n\n# METADATA\n# title: May the subject", "-"},
		{"a pattern more", "grants/data.json", "\"account:user:read\": true", "\"account:user:read\": true,\n\"account:user:update\": true", "+"},
		{"an access word more", "routes/data.json", "\"access\": [\"self\", \"service:users:sync\"]", "\"access\": [\"self\", \"member\", \"service:users:sync\"]", "+"},
		{"one user more", "authz/credential.rego", "credential_allows(_) if input.principal.credential == \"token\"", "credential_allows(_) if input.principal.credential == \"token\"\n\ncredential_allows(_) if input.principal.id == \"user-mallory-v1\"", "+"},
		{"an end that is not reached", "authz/grantable.rego", "input.grant.until <= assignment.expires", "input.grant.until < assignment.expires", "-"},
		{"another text", "authz/reasons.rego", "\"the account is suspended\"", "\"the account is not active\"", "~"},
		{"a rule renamed", "authz/self_service.rego", "_about_the_caller", "_about_who_calls", ""},
	}
}

// TestChangesAreFound holds a sample of the mutants, of each kind and direction, and one refactoring.
func TestChangesAreFound(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	only := os.Getenv("PORTCULLIS_TEST_MUTANT")
	for _, c := range sample() {
		if only != "" && !strings.Contains(c.name, only) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			count := 1
			if c.want == "" {
				count = -1
			}
			fresh := tree.With(c.file, strings.Replace(string(tree[c.file].Data), c.old, c.fresh, count))
			d, err := matrix.Compare(t.Context(), compiled(t, tree), compiled(t, fresh), 2)
			if err != nil {
				t.Fatal(err)
			}
			got := directions(d)
			t.Logf("%s: %d rows, %d unreachable, %d questions, %d evaluations, gaps %v", got, len(d.Rows), len(d.Unreachable), d.Questions, d.Evaluations, d.Gaps)
			for _, row := range d.Rows[:min(3, len(d.Rows))] {
				t.Logf("%+v", row)
			}
			if c.want == "" && got != "" || c.want == "~" && got != "~" || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func directions(d *matrix.Difference) string {
	found := map[string]bool{}
	for _, row := range d.Rows {
		switch {
		case row.New.Allow && !row.Old.Allow:
			found["+"] = true
		case row.Old.Allow && !row.New.Allow:
			found["-"] = true
		default:
			found["~"] = true
		}
	}
	out := ""
	for _, sign := range []string{"+", "-", "~"} {
		if found[sign] {
			out += sign
		}
	}
	return out
}

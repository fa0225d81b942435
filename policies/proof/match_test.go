package proof_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// withRoles returns the grants with more roles of twenty permissions, one a line, after the opening bracket.
func withRoles(grants string, roles int) string {
	var lines strings.Builder
	for r := range roles {
		permissions := map[string]bool{}
		for p := range 20 {
			permissions[fmt.Sprintf("project:kind%04d:verb%02d", r, p)] = true
		}
		held, _ := json.Marshal(permissions) // strings and booleans
		fmt.Fprintf(&lines, "\"role_%04d\": {\"name\": \"Role\", \"scope\": \"PROJECT\", \"description\": \"x\", \"permissions\": %s},\n", r, held)
	}
	return strings.Replace(grants, "{", "{\n"+lines.String(), 1)
}

// TestALargeDocumentMustMatchItsSchema guarantees that Load reports each mismatch of a large document, with its line if
// it has one.
func TestALargeDocumentMustMatchItsSchema(t *testing.T) {
	const schema = "schemas/grants/schema.json"
	large := policytest.Small(t).With("grants/data.json", withRoles(policytest.SmallGrants, 200))
	says := func(old, text string) policytest.Tree {
		changed := strings.Replace(string(large[schema].Data), old, text, 1)
		if changed == string(large[schema].Data) {
			t.Fatalf("the schema has no %s", old)
		}
		return large.With(schema, changed)
	}
	row := func(line int, old, text string) policytest.Tree {
		lines := strings.Split(withRoles(policytest.SmallGrants, 200), "\n")
		lines[line-1] = strings.Replace(lines[line-1], old, text, 1)
		return large.With("grants/data.json", strings.Join(lines, "\n"))
	}
	must.Get(load(t, large))(t)
	anything := strings.Replace(string(large[schema].Data), `"additionalProperties": false`, `"additionalProperties": true`, 1)
	again := strings.Replace(string(large[schema].Data), `"name": {`, `"also": {"$ref": "#"}, "name": {`, 1)
	for name, c := range map[string]struct {
		tree policytest.Tree
		want string
	}{
		"too few members":     {says(`"type": "object"`, `"type": "object", "minProperties": 1000`), "grants/data.json: (Root): Must have at least 1000 properties"},
		"too many members":    {says(`"type": "object"`, `"type": "object", "maxProperties": 150`), "grants/data.json: (Root): Must have at most 150 properties"},
		"a member is missing": {says(`["account_admin"]`, `["account_admin", "auditor"]`), "grants/data.json: (Root): auditor is required"},
		"required is a word":  {says(`["account_admin"]`, `"account_admin"`), "grants/data.json: can't be checked against its schema"},
		"the whole again":     {large.With(schema, again), "schemas/grants/schema.json: its references go round in a circle"},
		"an unknown scope":    {row(150, "PROJECT", "GALAXY"), "grants/data.json:150: role_0148.scope"},
		"an unknown field":    {row(150, `"scope"`, `"colour": 1, "scope"`), "grants/data.json:150: role_0148: Additional property colour"},
		"a field of no row":   {row(150, `"scope"`, `"colour": 1, "scope"`).With(schema, anything), "grants/data.json: json: unknown field \"colour\""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.tree)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("no %q in:\n%.1000v", c.want, err)
			}
		})
	}
}

// largeTree returns the embedded tree with more system roles.
func largeTree(tb testing.TB, roles int) policytest.Tree {
	tb.Helper()
	t := policytest.Copy(tb, policies.Tree())
	return t.With("grants/data.json", withRoles(string(t["grants/data.json"].Data), roles))
}

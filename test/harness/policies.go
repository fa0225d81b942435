package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// CopyWholePolicies copies the policy tree of the repository into a folder of the test.
func CopyWholePolicies(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"actions", "authz", "grants", "mcp", "routes", "schemas"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../../policies", part))))
	}
	return dir
}

// CopyPolicies copies the policy tree of the repository with one test in place of its own. A gateway runs the tests of its tree
// at each start; without them it takes a third of the CPU.
func CopyPolicies(t testing.TB) string {
	t.Helper()
	dir := CopyWholePolicies(t)
	for _, file := range must.Get(filepath.Glob(filepath.Join(dir, "*", "*_test.rego")))(t) {
		must.Do(t, os.Remove(file))
	}
	WriteFile(t, filepath.Join(dir, "authz", "start_test.rego"), "package authz_test\n\ntest_nothing_allows_nothing if not data.authz.decision.allow with input as {}\n")
	return dir
}

// PoliciesWithWidgets is the policy tree with the row of docs/integrate/own-service.md.
func PoliciesWithWidgets(t *testing.T) string {
	t.Helper()
	policies := CopyPolicies(t)
	routes := filepath.Join(policies, "routes", "data.json")
	text := must.Get(os.ReadFile(routes))(t)
	WriteFile(t, routes, strings.Replace(string(text), "{", `{"own.widget_list": `+operationsRow(t)+",", 1))
	return policies
}

// operationsRow is the row of the example in docs/integrate/own-service.md, word for word.
func operationsRow(t *testing.T) string {
	t.Helper()
	page := must.Get(os.ReadFile("../../docs/integrate/own-service.md"))(t)
	_, rest, ok := strings.Cut(string(page), "\"own.widget_list\": ")
	row, _, ended := strings.Cut(rest, "\n}\n```")
	if !ok || !ended || !json.Valid([]byte(row)) {
		t.Fatalf("docs/integrate/own-service.md has no example of a row: %q", row)
	}
	return row
}

// FreezeRule is a deny rule that an author might write.
const FreezeRule = `package authz

# METADATA
# title: Nothing is done to volcanoes
deny contains "volcanoes are left alone" if {
	input.action.resource == "volcano"
}
`

// FreezeTest is the test of FreezeRule.
const FreezeTest = `package authz_test

import data.authz

test_volcanoes_are_left_alone if {
	"volcanoes are left alone" in authz.deny with input.action.resource as "volcano"
}
`

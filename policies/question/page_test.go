package question_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/test/must"
)

// described is a value of the input as its schema describes it.
type described struct {
	Description string
	Enum        []string
	Properties  map[string]described
	Items       *described
}

// TestReferenceHasTheInput: authors read of every value of the input, its kind, its meaning and its words. The page is made
// from the table and the schema.
func TestReferenceHasTheInput(t *testing.T) {
	raw := must.Get(fs.ReadFile(policies.Tree(), "schemas/input/schema.json"))(t)
	var input described
	must.Do(t, json.Unmarshal(raw, &input))
	var columns, texts strings.Builder
	for _, row := range question.Table() {
		value := input
		for part := range strings.SplitSeq(row.Path, ".") {
			value = value.Properties[part]
		}
		table := &columns
		if row.Kind == question.Text {
			table = &texts
		}
		table.WriteString(pageRow(t, row.Path, value.Description, row.Values))
	}
	members := input.Properties["subject"].Properties["here"].Items.Properties
	names := []string{"role", "custom", "permissions", "level", "role_scope", "role_status", "status", "running", "outlasts_grant"}
	if len(names) != len(members) {
		t.Fatalf("%d fields, and the page has %d", len(members), len(names))
	}
	var fields strings.Builder
	for _, name := range names {
		fields.WriteString(pageRow(t, name, members[name].Description, members[name].Enum))
	}
	policytest.MadePart(t, "columns", "| column | meaning |\n|---|---|\n"+columns.String())
	policytest.MadePart(t, "here", "| of `subject.here[]` | meaning |\n|---|---|\n"+fields.String())
	policytest.MadePart(t, "texts", "| text | meaning |\n|---|---|\n"+texts.String())
}

// pageRow returns the row of a value, with the words that it may have.
func pageRow(t *testing.T, path, description string, words []string) string {
	t.Helper()
	if description == "" {
		t.Errorf("the schema does not describe %s", path)
	}
	named := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "" })
	if len(named) > 0 {
		description += ": `" + strings.Join(named, "`, `") + "`"
	}
	if len(named) < len(words) {
		description += ", or empty"
	}
	return fmt.Sprintf("| `%s` | %s |\n", path, description)
}

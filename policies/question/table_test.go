package question_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/test/must"
)

type schema struct {
	Type       string
	Enum       []string
	Required   []string
	Properties map[string]schema
}

// TestTheTableAndTheSchemaDescribeTheSameInput guarantees that the table has a row, and so the key a part, for each value
// of the input's schema. The words of a column are those of the schema.
func TestTheTableAndTheSchemaDescribeTheSameInput(t *testing.T) {
	text := must.Get(fs.ReadFile(policies.Tree(), "schemas/input/schema.json"))(t)
	var input schema
	must.Do(t, json.Unmarshal(text, &input))
	rows := map[string]question.Row{}
	for _, row := range question.Table() {
		rows[row.Path] = row
	}
	var check func(path string, s schema)
	check = func(path string, s schema) {
		if row, listed := rows[path]; listed {
			if row.Type != s.Type {
				t.Errorf("%s: %s in the table, %s in the schema", path, row.Type, s.Type)
			}
			if row.Type == "string" && !slices.Equal(row.Values, s.Enum) {
				t.Errorf("%s: %q in the table, %q in the schema", path, row.Values, s.Enum)
			}
			delete(rows, path)
			return
		}
		if len(s.Properties) == 0 || len(s.Required) != len(s.Properties) {
			t.Errorf("%s is not in the table, or has members that need not be there", path)
		}
		for name, below := range s.Properties {
			check(strings.TrimPrefix(path+"."+name, "."), below)
		}
	}
	check("", input)
	for path := range rows {
		t.Errorf("%s is not in the schema", path)
	}
}

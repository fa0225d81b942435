package compare

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies/question"
)

// TestEveryValueIsOfAPart guarantees that the comparison varies each value of the input's table: a value of no part would be one
// and the same in all questions, and a change of a rule that reads it would not be seen.
func TestEveryValueIsOfAPart(t *testing.T) {
	known := map[string]bool{}
	for p := range paths {
		known[p.String()] = true
	}
	for _, row := range question.Table() {
		for _, path := range expandColumns([]string{row.Path}) {
			if !known[path] {
				t.Errorf("%s is not a value of any part: add it to the paths, or what it is made of to derivedColumns", row.Path)
			}
		}
	}
}

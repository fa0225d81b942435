package compare

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies/question"
)

// TestEveryValueIsOfAPart guarantees that the comparison varies each value of the input's table. A value without a part
// would be the same in all questions, and the comparison would miss a change of a rule about it.
func TestEveryValueIsOfAPart(t *testing.T) {
	varied := map[string]bool{}
	for p := range paths {
		varied[p.String()] = true
	}
	for _, row := range question.Table() {
		for _, path := range expandColumns([]string{row.Path}) {
			if !varied[path] {
				t.Errorf("%s is not a value of any part: add it to the paths, or what it is made of to derivedColumns", row.Path)
			}
		}
	}
}

package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestTooManyQuestionsNameEachChange guarantees a gap in the file of each change when rules name too much to be compared:
// of one definition of a set, of a function, and of a document.
func TestTooManyQuestionsNameEachChange(t *testing.T) {
	crowded := "package authz\n"
	for _, path := range []string{"target.user", "target.project", "target.rest", "subject.id"} {
		for n := range 60 {
			crowded += fmt.Sprintf("\ndeny contains \"%s %d\" if input.%[1]s == \"name-%[2]d\"\n", path, n)
		}
	}
	active := `input.subject.status == "ACTIVE"`
	old := policytest.Small(t).With("authz/crowded.rego", crowded).
		With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, active, active+"\n\tcount(deny) == 0", 1)).
		With("authz/one.rego", "package authz\n\ndeny contains \"one\" if not called(input.subject.status)\n").
		With("authz/two.rego", "package authz\n\ncalled(status) if status != \"\"\n").
		With("numbers/data.json", `{"most": 1}`).
		With("authz/three.rego", "package authz\n\ndeny contains \"three\" if data.numbers.most > 2\n")
	for file, text := range map[string]string{
		"authz/one.rego":    "package authz\n\ndeny contains \"one\" if input.subject.status == \"\"\n\ndeny contains \"two\" if called(\"x\")\n",
		"authz/two.rego":    "package authz\n\ncalled(status) if status == \"ACTIVE\"\n",
		"numbers/data.json": `{"most": 3}`,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			d, err := compare.Compare(t.Context(), compiled(t, old), compiled(t, old.With(file, text)), 1)
			if err != nil || !d.Unasked {
				t.Fatalf("all was asked: %v", err)
			}
			if !slices.ContainsFunc(d.Gaps, func(g compare.Gap) bool {
				return strings.HasPrefix(g.At, file+":") && strings.Contains(g.LeftOut, "too many")
			}) {
				t.Errorf("no gap in the file: %v", d.Gaps)
			}
		})
	}
}

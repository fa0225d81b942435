package replay

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/open-policy-agent/opa/v1/format"
)

// anID matches the id of a decision, which becomes a part of a rule's name.
var anID = regexp.MustCompile(`^[0-9A-Za-z_]+$`)

// head begins the file. An app may answer with a boolean alone.
const head = `package replayed_test

allowed(answer) if answer == true

allowed(answer) if answer.allow == true

allowed(answer) if answer.decision == true
`

// Tests returns the examples of all flips as a file for `opa test`, in the form of `opa fmt`. Each test expects the recorded
// verdict.
func (r *Report) Tests() ([]byte, error) {
	var out strings.Builder
	out.WriteString(head)
	for _, flip := range r.Flips {
		for _, e := range flip.Examples {
			if !anID.MatchString(e.ID) {
				return nil, fmt.Errorf("%q is not the id of a decision", e.ID)
			}
			not := ""
			if flip.Allowed {
				not = "not "
			}
			fmt.Fprintf(&out, "\n# Told was %q.\ntest_%s if {\n\t%sallowed(%s) with input as %s\n}\n", e.Old, e.ID, not, e.rule, e.input)
		}
	}
	return format.Source("replayed_test.rego", []byte(out.String()))
}

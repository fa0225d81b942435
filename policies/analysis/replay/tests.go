package replay

import (
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// Tests returns the examples of all flips as a file of `opa test`: each holds the new tree to the verdict
// that was told.
func (r *Report) Tests() ([]byte, error) {
	var out strings.Builder
	out.WriteString("package replayed_test\n")
	for _, flip := range r.Flips {
		for _, e := range flip.Examples {
			input, err := engine.InputOf(e.Judgement)
			if err != nil {
				return nil, err
			}
			rule, member := "data."+strings.ReplaceAll(flip.Path, "/", "."), "allow"
			if e.Judgement.App != nil {
				member = "decision"
			}
			verdict := fmt.Sprintf("%s.%s", rule, member)
			fmt.Fprintf(&out, "\n# %s: told was %q\ntest_%s if {\n\tanswer := %s with input as %s\n\tanswer == %t\n}\n",
				e.ID, e.Old, e.ID, verdict, input, !flip.Allowed)
		}
	}
	return []byte(out.String()), nil
}

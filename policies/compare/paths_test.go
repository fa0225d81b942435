package compare

import (
	"context"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/question"
)

// TestEveryRowVariesWithItsPart guarantees that the comparison varies each row of the input's table by the part it
// belongs to, and by no other part. It would miss a change of a rule about a row that is the same in all questions.
func TestEveryRowVariesWithItsPart(t *testing.T) {
	src, err := policies.Read(policytest.Small(t))
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := proof.Compile(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newComparison(t.Context(), set, set)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close(t.Context())
	values := map[string]map[string]bool{}
	for _, entry := range engine.EntryPoints() {
		tb := &table{
			ctx: t.Context(), root: root{entry, entry}, requests: c.requests(entry), targets: c.consts.targets(), holdings: []holding{{}},
			persons: c.consts.people(entry == engine.EntryDecision, true), grants: c.consts.grantCases([][]string{nil, {"project:*:*"}}),
		}
		tb.dropUnasked()
		var first map[string]string
		for number, size := range tb.sizes() {
			for value := range size {
				pt := point{}
				pt[number] = value
				q := tb.question(0, pt)
				read := map[string]string{}
				for _, row := range question.Table() {
					read[row.Path] = question.Value(&q, row.Path).String()
					if values[row.Path] == nil {
						values[row.Path] = map[string]bool{}
					}
					values[row.Path][read[row.Path]] = true
					if first != nil && read[row.Path] != first[row.Path] && partOf(row.Path) != part(number) && sourcesOf(row.Path) == nil {
						t.Fatalf("%s varies with part %d", row.Path, number)
					}
				}
				if first == nil {
					first = read
				}
			}
		}
	}
	for _, row := range question.Table() {
		gap := []string{"clock.hour", "clock.weekday", "now"} // the first two are gaps; the last has the times that rules name
		if partOf(row.Path) != holdingPart && len(values[row.Path]) < 2 && !slices.Contains(gap, row.Path) {
			t.Errorf("%s is the same in all questions: vary what it is made of", row.Path)
		}
	}
}

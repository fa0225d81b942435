package compare

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// TestNumbersOfOneValueAreEqual guarantees that no two spellings of a number count as never equal.
func TestNumbersOfOneValueAreEqual(t *testing.T) {
	t.Parallel()
	values := map[string]*value{}
	for _, text := range []string{"1", "1.0", "2", `"1"`} {
		values[text] = constant(ast.MustParseTerm(text).Value)
	}
	for _, c := range []struct {
		a, b  string
		never bool
	}{{"1", "1.0", false}, {"1", "1", false}, {"1", "2", true}, {"1", `"1"`, true}} {
		if never := values[c.a].neverEqual(values[c.b]); never != c.never {
			t.Errorf("%s and %s: %t", c.a, c.b, never)
		}
	}
}

package engine_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// BenchmarkArguments judges the arguments of a call without schema and rules, by a schema alone, and by a schema and a rule.
func BenchmarkArguments(b *testing.B) {
	for _, c := range []struct{ name, rules, tool string }{
		{"none", "", "open"}, {"schema", "", "close"}, {"schema and rule", `deny contains "too much" if input.arguments.amount > 100`, "close"},
	} {
		b.Run(c.name, func(b *testing.B) {
			pinned, call := newEngine(b, withTools(b, c.rules), engine.Options{}).Pin(), deskCall(c.tool, `{"amount": 7, "reason": "late"}`)
			b.ReportAllocs()
			for b.Loop() {
				if v, err := pinned.Arguments(b.Context(), call); err != nil || !v.Allowed {
					b.Fatalf("%+v, %v", v, err)
				}
			}
		})
	}
}

package guards_test

import (
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestGuardsSeeFieldsOfRoutes that no rule reads, as claims and the audience.
func TestGuardsSeeFieldsOfRoutes(t *testing.T) {
	const guard = "package guards\n\n" +
		"deny contains sprintf(\"%s: %s from %q to %q\", [row.route, row.field, row.old, row.new]) if {\n\tsome row in input.routes\n\trow.field in {\"claims\", \"audience\"}\n}\n"
	before := small(t, guard)
	for name, c := range map[string]struct{ member, want string }{
		"claims":   {`"claims": true, "method"`, `guards: authorization.check: claims from "" to "true"`},
		"audience": {`"audience": "other", "method"`, `guards: authorization.check: audience from "" to "other"`},
		"a spec":   {`"spec": "E3", "method"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			next := before.With("routes/data.json", strings.Replace(policytest.SmallRoutes, `"method"`, c.member, 1))
			err := guards.Check(t.Context(), compiled(t, before), compiled(t, next))
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAGuardThatTakesTooLongRefuses, for that reason.
func TestAGuardThatTakesTooLongRefuses(t *testing.T) {
	before := small(t, "package guards\n\ndeny contains \"x\" if {\n\tcount(input.new_access) >= 0\n\t"+policytest.Endless+"\n}\n")
	set := compiled(t, before)
	err := guards.CheckWithin(t.Context(), set, compiled(t, before.With("other/data.json", `{"on": true}`)), time.Minute, 50*time.Millisecond)
	if err == nil || !strings.HasPrefix(err.Error(), "guards: a guard failed: ") {
		t.Errorf("got %v", err)
	}
}

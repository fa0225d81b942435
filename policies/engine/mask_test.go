package engine_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestAMaskIsReadOrAnError guarantees that the mask rules read the event at the time of its record. A failing rule or
// a value of another form is an error without a quote of the event.
func TestAMaskIsReadOrAnError(t *testing.T) {
	for name, c := range map[string]struct {
		rules, want string
		drop        bool
		problem     string
	}{
		"no rules":          {want: "[]"},
		"a set":             {rules: `mask contains "/input/x" if input.path == "secret"`, want: `["/input/x"]`},
		"a list":            {rules: `mask := ["/input/x", {"op": "remove"}]`, want: `["/input/x",{"op":"remove"}]`},
		"undefined":         {rules: "mask := [] if input.path == \"other\"\n\ndrop if input.path == \"other\"", want: "[]"},
		"drop":              {rules: `drop if input.path == "secret"`, want: "[]", drop: true},
		"the time":          {rules: `mask contains "/input/x" if time.now_ns() > 1700000000000000000`, want: `["/input/x"]`},
		"a number":          {rules: `mask := 1`, problem: "data.system.log.mask must be a set of paths, not number"},
		"rules below":       {rules: `mask.below := 1`, problem: "data.system.log.mask must be a set of paths, not object"},
		"drop is a text":    {rules: `drop := input.path`, problem: "data.system.log.drop must be a boolean, not string"},
		"two values":        {rules: "mask := [\"/input/x\"]\n\nmask := [\"/input/y\"] if input.path == \"secret\"", problem: "eval_conflict_error at log/mask.rego:"},
		"a failure":         {rules: `mask contains x if x := to_number(input.path)`, problem: "eval_builtin_error at log/mask.rego:"},
		"a failure of drop": {rules: `drop if to_number(input.path) > 1`, problem: "eval_builtin_error at log/mask.rego:"},
		"too much memory":   {rules: "mask contains x if {\n\tsome i in numbers.range(1, 100)\n\tx := sprintf(\"%*d\", [999999, i])\n}", problem: "took too much memory"},
	} {
		tree := policytest.Small(t)
		if c.rules != "" {
			tree = tree.With("log/mask.rego", "package system.log\n\n"+c.rules+"\n")
		}
		e := newEngine(t, tree, engine.Options{})
		if e.Masks() != (c.rules != "") {
			t.Errorf("%s: masks: %t", name, e.Masks())
		}
		drop, rules, err := e.Mask(t.Context(), []byte(`{"path": "secret"}`))
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "secret") || drop || rules != nil {
				t.Errorf("%s: %t, %s, %v", name, drop, rules, err)
			}
		} else if err != nil || drop != c.drop || string(rules) != c.want {
			t.Errorf("%s: %t, %s, %v", name, drop, rules, err)
		}
	}
}

package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestWhatNoTableHoldsIsSaid guarantees a gap for texts and times that rules compute and compare, for lengths and
// orders of open texts, for the decision log, for split names of permissions, and for a `with`.
func TestWhatNoTableHoldsIsSaid(t *testing.T) {
	tree := policytest.Small(t)
	for name, c := range map[string]struct{ file, rules, want string }{
		"a text":                    {"authz/more.rego", "package authz\n\ndeny contains \"x\" if sprintf(\"%s-%s\", [input.subject.id, input.action.verb]) == \"user-a-v1-read\"\n", "a text made of the question"},
		"a text by a rule":          {"authz/more.rego", "package authz\n\n_name := sprintf(\"%s!\", [input.subject.id])\n\ndeny contains \"x\" if _name in {\"a!\", \"b!\"}\n", "a text made of the question"},
		"a text of a call":          {"authz/more.rego", "package authz\n\n_name(x) := sprintf(\"%s!\", [x])\n\ndeny contains \"x\" if _name(input.subject.id) == \"a!\"\n", "a text made of the question"},
		"a text looked up":          {"authz/more.rego", "package authz\n\ndeny contains \"x\" if input.principal.scopes[sprintf(\"%s:sync\", [input.action.resource])]\n", "a text made of the question"},
		"only told":                 {"authz/more.rego", "package authz\n\ndeny contains sprintf(\"no %s\", [input.action.verb]) if input.action.verb == \"delete\"\n", ""},
		"the decision log":          {"log/log.rego", "package system.log\n\nmask contains \"/input/subject\" if true\n", "events of the decision log"},
		"a text taken apart":        {"authz/more.rego", "package authz\n\ndeny contains \"x\" if endswith(sprintf(\"%s!\", [input.subject.id]), \"a!\")\n", "a text made of the question"},
		"a part of what is told":    {"authz/more.rego", "package authz\n\nconditions.active := {\"holds\": input.subject.status == \"ACTIVE\", \"says\": \"x\"}\n", "data.authz.conditions"},
		"patterns in order":         {"authz/more.rego", "package authz\n\ndeny contains \"x\" if { some p, _ in input.grant.permissions; p < \"b\" }\n", "grant.permissions"},
		"patterns counted":          {"authz/more.rego", "package authz\n\ndeny contains \"x\" if count(input.grant.permissions) > 0\n", ""},
		"a length":                  {"authz/more.rego", "package authz\n\ndeny contains \"x\" if count(input.subject.id) == 31\n", "subject.id"},
		"an order":                  {"authz/more.rego", "package authz\n\ndeny contains \"x\" if { max({input.subject.id, \"user-m\"}) == input.subject.id; input.subject.id != \"user-m\" }\n", "subject.id"},
		"a difference of times":     {"authz/more.rego", "package authz\n\ndeny contains \"x\" if input.now - 5 == 31\n", "now"},
		"a constant made":           {"authz/more.rego", "package authz\n\n_name := concat(\"-\", [\"user\", \"a\"])\n\ndeny contains \"x\" if input.subject.id == _name\n", "subject.id"},
		"made of few":               {"authz/more.rego", "package authz\n\n_name := concat(\"-\", [input.principal.kind, \"a\"])\n\ndeny contains \"x\" if input.subject.id in {_name, \"b\"}\n", "subject.id"},
		"made and looked up":        {"authz/more.rego", "package authz\n\n_names := {lower(\"USER-A\"): true}\n\ndeny contains \"x\" if _names[input.subject.id]\n", "subject.id"},
		"a time made":               {"authz/more.rego", "package authz\n\ndeny contains \"x\" if input.now > time.parse_rfc3339_ns(\"2027-01-01T00:00:00Z\") / 1000000\n", "now"},
		"a scope made":              {"authz/more.rego", "package authz\n\ndeny contains \"x\" if input.principal.scopes[concat(\":\", [\"users\", \"sync\"])]\n", "principal.scopes"},
		"a with":                    {"authz/more.rego", "package authz\n\ndeny contains \"x\" if _x with input.action.verb as input.subject.id\n\n_x if input.action.verb == \"user-a-v1\"\n", "authz/more.rego:3 what a `with` replaces"},
		"a with in a comprehension": {"authz/more.rego", "package authz\n\ndeny contains \"x\" if count([1 | _x with input.action.verb as input.subject.id]) > 0\n\n_x if input.action.verb == \"user-a-v1\"\n", "authz/more.rego:3 what a `with` replaces"},
		"a with in a head":          {"authz/more.rego", "package authz\n\ndeny contains [1 | _x with input.action.verb as input.subject.id] if true\n\n_x if input.action.verb == \"user-a-v1\"\n", "authz/more.rego:3 what a `with` replaces"},
		"a with in a function":      {"authz/more.rego", "package authz\n\ndeny contains \"x\" if _is(input.subject.id)\n\n_is(id) if {\n\t_x with input.action.verb as id\n}\n\n_x if input.action.verb == \"user-a-v1\"\n", "authz/more.rego:6 what a `with` replaces"},
		"a with in an else":         {"authz/more.rego", "package authz\n\ndeny contains \"x\" if _is\n\n_is if input.action.verb == \"read\"\n\nelse if _x with input.action.verb as input.subject.id\n\n_x if input.action.verb == \"user-a-v1\"\n", "authz/more.rego:7 what a `with` replaces"},
		"a with of a function":      {"authz/more.rego", "package authz\n\ndeny contains \"x\" if _is(1) with data.authz._other as input.subject.id\n\n_other := \"a\"\n\n_is(_) if _other == \"user-a-v1\"\n", "authz/more.rego:3 what a `with` replaces"},
		"a granted pattern":         {"authz/more.rego", "package authz\n\ndeny contains \"x\" if { some p, _ in input.grant.permissions; startswith(p, \"account:\") }\n", "grant.permissions"},
	} {
		t.Run(name, func(t *testing.T) {
			const all = "access := decision if"
			before := tree.With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, all, "access := {\"allow\": false, \"reason\": \"denied\"} if data.authz.deny != set()\n\nelse := decision if", 1))
			d, err := compare.Compare(t.Context(), compiled(t, before), compiled(t, before.With(c.file, c.rules)), 1)
			if err != nil {
				t.Fatal(err)
			}
			reported := ""
			for _, gap := range d.Gaps {
				reported += gap.At + " " + gap.Reads + "\n"
			}
			if c.want == "" && reported != "" || !strings.Contains(reported, c.want) {
				t.Errorf("gaps %q, want %q", reported, c.want)
			}
		})
	}
}

// TestSeveralAtOnceAreSaid guarantees a gap for rules with an effect only on a grant of several permissions, or on several
// assignments. With two, such a rule is true, or has two values: an error.
func TestSeveralAtOnceAreSaid(t *testing.T) {
	const words = `{"read": "r", "create": "w"}`
	small := policytest.Small(t)
	grantable := func(condition string) string {
		return "package authz\n\ngrantable := {\"allow\": true, \"reason\": \"so\"} if {\n\tinput.principal.kind == \"user\"\n\t" + condition + "\n}\n\n"
	}
	next := compiled(t, small.With("authz/more.rego", grantable("true")))
	for name, rules := range map[string]string{
		"a function of a permission": "x if { _f(\"project:a:read\"); _f(\"project:b:read\") }\n\n_f(p) if input.grant.permissions[p]\n",
		"a set of permissions":       "x if { \"project:a:read\" in _g; \"project:b:read\" in _g }\n\n_g contains p if some p, _ in input.grant.permissions\n",
		"a comprehension":            "x if { g := {p | some p, _ in input.grant.permissions}; \"project:a:read\" in g; \"project:b:read\" in g }\n",
		"a set of words":             "x if { \"r\" in _g; \"w\" in _g }\n\n_g contains " + words + "[v] if { some p, _ in input.grant.permissions; [_, _, v] := split(p, \":\") }\n",
		"an object of words":         "x if { _g.r; _g.w }\n\n_g[k] := true if { some p, _ in input.grant.permissions; [_, _, v] := split(p, \":\"); k := " + words + "[v] }\n",
		"every permission":           "x if every p in {\"project:a:read\", \"project:b:read\"} { input.grant.permissions[p] }\n",
		"not one of some":            "x if not _g\n\n_g if { some k in {\"project:a:read\", \"project:b:read\"}; not _f(k) }\n\n_f(k) if { some p, _ in input.grant.permissions; p == k }\n",
		"two verbs in conflict":      "x if _g == \"z\"\n\n_g := v if { some p, _ in input.grant.permissions; [_, _, v] := split(p, \":\") }\n",
		"two roles in conflict":      "x if is_number(_g)\n\n_g := a.role if { some a in input.subject.here; a.status != \"ACTIVE\" }\n",
		"two patterns in conflict":   "x if is_number(_g)\n\n_g := p if { some a in input.subject.here; a.custom; some p, _ in a.permissions }\n",
		"a function in conflict":     "x if is_number(_g(1))\n\n_g(_) := a.role if { some a in input.subject.here; a.status != \"ACTIVE\" }\n",
	} {
		t.Run(name, func(t *testing.T) {
			gaps, err := compare.GapsOf(t.Context(), compiled(t, small.With("authz/more.rego", grantable("not x")+rules)), next)
			if err != nil || len(gaps) == 0 {
				t.Errorf("gaps %v, %v", gaps, err)
			}
		})
	}
}

// TestMoreTimesThanActions guarantees a comparison when rules name more times than the trees have distinct actions.
func TestMoreTimesThanActions(t *testing.T) {
	tree := policytest.Small(t)
	next := tree.With("authz/more.rego", "package authz\n\ndeny contains \"x\" if input.now in {5, 50, 500}\n").
		With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, `input.subject.status == "ACTIVE"`, `input.subject.status == "ACTIVE"`+"\n\tcount(deny) == 0", 1))
	if d, err := compare.Compare(t.Context(), compiled(t, tree), compiled(t, next), 1); err != nil || len(d.Rows) == 0 {
		t.Errorf("%v, %v", d, err)
	}
}

// TestWhatIsToldIsCompared: a change of what an explanation tells is a difference, and grants nothing.
func TestWhatIsToldIsCompared(t *testing.T) {
	const rule = "package authz\n\ntold contains \"deny_rule\" if input.subject.status == \"ACTIVE\"\n"
	tree := policytest.Small(t)
	for name, c := range map[string]struct{ old, next policytest.Tree }{
		"told":       {tree.With("authz/told.rego", rule), tree.With("authz/told.rego", strings.Replace(rule, "== \"ACTIVE\"", "!= \"\"", 1))},
		"added":      {tree, tree.With("authz/told.rego", rule)},
		"removed":    {tree.With("authz/told.rego", rule), tree},
		"conditions": {tree, tree.With("authz/conditions.rego", "package authz\n\nconditions[code] := {\"holds\": input.subject.status == \"ACTIVE\", \"says\": \"x\"} if some code in {\"active\"}\n")},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := compare.Compare(t.Context(), compiled(t, c.old), compiled(t, c.next), 1)
			if err != nil || len(d.Rows) == 0 {
				t.Fatalf("%d rows, %v", len(d.Rows), err)
			}
			for _, row := range d.Rows {
				if row.Entry != "told" && row.Entry != "conditions" || row.Old.Allow || row.New.Allow {
					t.Errorf("%+v", row)
				}
			}
			same, err := compare.Compare(t.Context(), compiled(t, c.old), compiled(t, c.old), 1)
			if err != nil || len(same.Rows) > 0 {
				t.Errorf("a tree against itself: %v, %v", same.Rows, err)
			}
		})
	}
}

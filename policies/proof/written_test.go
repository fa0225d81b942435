package proof_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestWhatPeopleWriteIsTaken guarantees that the bounds on the text of rules accept large rules of common kinds.
func TestWhatPeopleWriteIsTaken(t *testing.T) {
	times := func(n int, format string) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(format, "$P", fmt.Sprint(i-1)), "$N", fmt.Sprint(i)) + "\n")
		}
		return b.String()
	}
	for name, rules := range map[string]string{
		"values taken apart":           "p if {\n\t[a, {\"b\": b}] := [input.now, {\"b\": input.account.id}]\n\t[c, d] := [b, a]\n\t[d, c] = [a, b]\n}",
		"put together and taken apart": "p if {\n\tx := [input.now, [input.now]]\n\t[a, [a]] = x\n\t[y, z] = [[a], {\"a\": a}]\n\t[y, {\"a\": a}] = [[a], z]\n}",
		"variables of other forms": "obj := {\"k\": [1, 2]}\n\nf(x, [y, z]) := [a, b, c] if [a, b, c] := [x, y, z]\n\n" +
			"p if {\n\tsome i, v in obj.k\n\t[c, d] := [i, v]\n\tsome k\n\tw := obj[k]\n\t[e, g] := [k, {\"of\": w}]\n\tevery n, m in obj.k {\n\t\t[t, u] := [n, m]\n\t\t[t, u] != [c, 3]\n\t}\n" +
			"\twalk(obj, [path, last])\n\t{\"a\": h, \"b\": j} := {\"a\": path, \"b\": [last, e]}\n\tf(c, [d, g]) == [h, j, 1]\n\tnot [c, d] == [1, 2]\n\tr := [l | [q, s] := [i, k]; l := [s, q]]\n\tcount(r) > 0\n}",
		"keys of several parts":         "q contains {\"id\": x, \"name\": x} if x := input.now\n\np if {\n\tsome y\n\tq[{\"id\": y, \"name\": y}]\n}",
		"keys that are asked as one":    "q[x][y] := [x, y] if {\n\tx := input.now\n\ty := {\"of\": [x]}\n}\n\np if {\n\tsome y\n\tq[1][y] == [1, y]\n}",
		"objects made of objects":       "p0 := {\"a\": input.now, \"b\": 1, \"c\": [1, 2], \"d\": input.account}\n" + times(200, "p$N := {\"a\": p$P.a, \"b\": p$P.b, \"c\": p$P.c, \"d\": p$P.d}") + "p := p200",
		"functions of functions":        "f(x) := {\"a\": x.a, \"b\": [x.b, x.b]}\n\np := " + strings.Repeat("f(", 12) + "{\"a\": input.now, \"b\": 1}" + strings.Repeat(")", 12),
		"what is left of what is left":  "p0 := {x | some x in [{\"a\": input.now, \"b\": [1]}, {\"a\": 2, \"b\": [2]}]}\n" + times(200, "p$N := {x | some x in p$P; x.a > 1}") + "p := p200",
		"a table":                       "t := {\n" + times(20_000, "\t\"k$N\": {\"a\": $N, \"b\": \"x\"},") + "}\n\np := t[input.account.id]",
		"many rules of one name":        times(2000, "p contains \"reason $N\" if input.now == $N"),
		"many branches":                 "p := 0 if input.now == 0\n" + times(90, "else := $N if input.now == $N"),
		"comprehensions within others":  "p := [{b: [c | some c in numbers.range(1, 3)] | some b in [\"x\", \"y\"]} | some a in [1, 2]]",
		"one rule that many others ask": "q := {\"a\": [1, 2, 3]}\n" + times(1000, "r$N := q.a[1] + $N") + "p if r1",
		"a long chain":                  "p0 := input.now\n" + times(400, "p$N := p$P + 1") + "p := p400",
	} {
		t.Run(name, func(t *testing.T) {
			src := must.Get(policies.Read(policytest.Small(t).With("x/x.rego", "package x\n\n"+rules+"\n")))(t)
			if _, _, err := proof.Prove(t.Context(), src); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTestsOfLargeInputsAreTaken guarantees that the bounds accept tests with large inputs.
func TestTestsOfLargeInputsAreTaken(t *testing.T) {
	input := "{\"subject\": {\"here\": [" +
		strings.TrimSuffix(strings.Repeat("{\"role\": \"x\", \"status\": \"ACTIVE\"}, ", 3000), ", ") + "]}}"
	tests := "package x_test\n\nimport data.authz\n\n"
	for i := range 20 {
		tests += fmt.Sprintf("test_%d if {\n\tanswers := [[authz.decision, authz.access] | some n in [1, 2]] with input as %s\n\tcount(answers) == 2\n}\n\n", i, input)
	}
	src := must.Get(policies.Read(policytest.Small(t).With("x/x_test.rego", tests)))(t)
	if _, _, err := proof.Prove(t.Context(), src); err != nil {
		t.Error(err)
	}
}

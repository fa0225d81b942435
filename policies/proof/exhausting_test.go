//go:build linux && !race

// The race detector takes more addresses than the processes here may have.

package proof_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// The time and the memory of the process that proves one of these trees.
const (
	provedWithin = 30 * time.Second
	provedIn     = 2 << 30
	provedCase   = "PORTCULLIS_TEST_EXHAUSTING"
)

// exhausting returns rules that exhaust a process when OPA compiles or evaluates them without limits, each with a part
// of the problem to report. prove adds a rule that reads p. Rules that begin with their package are a file of tests.
func exhausting() map[string]struct{ rules, want string } {
	const literal, cycle, deep = "a literal expands to more than 100000 values", "a value can be made a part of itself", "nested deeper than 200"
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(format, "$P", fmt.Sprint(i-1)), "$N", fmt.Sprint(i)) + "\n")
		}
		return b.String()
	}
	some := "a := object.get({}, \"a\", input.now)\n"
	tens := strings.TrimSuffix(strings.Repeat("v$P, ", 10), ", ")
	return map[string]struct{ rules, want string }{
		"a literal of variables": {"p := v8 if {\n\tv0 := [input.now]\n" + lines(8, "\tv$N := ["+tens+"]") + "}", "x.rego:9: limit_error: " + literal},
		"its type":               {"r if p == \"x\"\n\np := v40 if {\n\tv0 := [input.now]\n" + lines(40, "\tv$N := {\"a\": v$P, \"b\": v$P}") + "}", literal},
		"a chain of rules":       {"r0 := [input.now]\n\n" + lines(40, "r$N := [r$P, r$P]") + "p := r40", "x.rego:20: limit_error: " + literal},
		"two of them compared":   {"r0 := [input.now]\ns0 := [input.now]\n" + lines(40, "r$N := [r$P, r$P]\ns$N := [s$P, s$P]") + "p if r40 == s40", literal},
		"functions":              {"f(x) := [x, x]\n\np := " + strings.Repeat("f(", 40) + "input.now" + strings.Repeat(")", 40), "x.rego:3: limit_error: " + literal},
		"put there by a with":    {"q := [input.now, input.now]\n\np0 := [1]\n" + lines(40, "p$N := v if v := q with input as {\"now\": p$P}") + "p := p40", literal},
		"a rule replaced":        {"r := 1\n\nq := [r, r]\n\np0 := [1]\n" + lines(40, "p$N := v if v := q with data.x.r as p$P") + "p := p40", literal},
		"taken apart and put together": {"p := v if {\n\tv0 := [input.now]\n" +
			lines(40, "\t[a$N, b$N] := [v$P, v$P]\n\tv$N := {a$N, [b$N]}") + "\tv := v40\n}", literal},

		"functions replaced": {"f(x) := x\n\ng(x) := [x, x]\n\nh(x) := " + strings.Repeat("f(", 40) + "x" + strings.Repeat(")", 40) +
			"\n\np := v if v := h(input.now) with data.x.f as data.x.g", literal},
		"below a with": {"r0 := [input.now]\n" + lines(12, "r$N := [r$P, r$P]") + "s0 := [1]\n" + lines(12, "s$N := [s$P, input.now, s$P]") +
			"q := count(r12)\n\np := n if {\n\tcount(r12) > 0\n\tn := q with input as {\"now\": s12}\n}", literal},

		"a part of itself":           {some + "p if { [x, y, x, a, a] = [{\"x\": x}, {\"x\": y}, y, x, y] }", "x.rego:4: limit_error: " + cycle},
		"a part of itself, in short": {"p if { [x, 1] = [{\"x\": x}, x]; x = 1 }", "x.rego:3: limit_error: " + cycle},
		"in a comprehension":         {some + "p := [1 | [x, x, a] = [{\"x\": x}, {\"x\": {\"x\": x}}, x]]", "x.rego:4: limit_error: " + cycle},
		"by the key of a rule": {
			some + "q contains [{\"x\": x}, {\"x\": {\"x\": x}}, x] if x := a\n\np if {\n\tsome y\n\tq[[y, y, y]]\n\ty == 1\n}",
			"limit_error: " + cycle,
		},
		"by a key that stands twice":               {some + "q contains [x, x] if x := a\n\np if {\n\tsome y\n\tq[[[y], y]]\n\ty == 1\n}", "limit_error: " + cycle},
		"by two keys of which one holds the other": {some + "q contains [b, c] if [b, c, a] = [e, e, e]\n\np if {\n\tsome y\n\tq[[[y], y]]\n\ty == 1\n}", "limit_error: " + cycle},
		"by two keys that are one":                 {some + "q contains [b, c] if [b, b, a] = [[c], [[c]], c]\n\np if {\n\tsome y\n\tq[[y, y]]\n\ty == 1\n}", "x.rego:4: limit_error: " + cycle},
		"by three keys that are one":               {some + "q contains [b, c, d] if [b, c, a] = [[d], [[d]], d]\n\np if {\n\tsome y\n\tq[[y, y, y]]\n\ty == [1]\n}", "x.rego:4: limit_error: " + cycle},

		"a nested term":    {"p := " + strings.Repeat("[1 | ", 3000) + "true" + strings.Repeat("]", 3000), "x.rego:3: terms or bodies are " + deep},
		"a long sum":       {"p := 1" + strings.Repeat(" + 1", 30_000), deep},
		"branches of else": {"p := 0 if input.now < 0\n" + lines(3000, "else := $N if input.now < $N"), "x.rego:3: the rule has more than 100 branches of else"},
		"a long body":      {"p if {\n" + lines(100_000, "\tinput.now > $N") + "}", "more than 1000 expressions"},
		"many with":        {"q := 1\n\np if {\n\tq" + strings.Repeat(" with input.now as 1", 20_000) + "\n}", "x.rego:6: there are more than 100 `with`"},
		"many imports":     {lines(60_000, "import data.a$N") + "p := 1", "more than 1000 imports"},
		"a long name":      {strings.TrimSuffix(strings.Repeat("a.", 100_000), ".") + " := 1\n\np := 1", "x.rego:3: there are more than 100 parts of a name"},
		"many rules":       {lines(50_000, "p contains $N if input.now > $N"), "the tree has more than 10000 rules"},
		"rules on rules":   {"r0 := input.now\n" + lines(9000, "r$N := r$P") + "p := r9000", "depends on a chain of more than 500 rules"},
		"layers of rules":  {layers(400, 20) + "p := r1", "depend on each other in too many ways"},
		"each on all":      {lines(9000, "r$N := data[input.account.id].foo") + "p := 1", "refer to each other more than 500000 times"},

		"a test of a large value": {"package x_test\n\nr0 := numbers.range(1, 1000)\n" + lines(4, "r$N := [r$P | some x in r0]") + "test_r := r4", "x/x_test.rego:8: test test_r failed: its value is too large"},
	}
}

// layers returns n layers of rules. Each rule refers to all rules of the layer before.
func layers(n, width int) string {
	var b strings.Builder
	for rule := width; rule < n*width; rule++ {
		fmt.Fprintf(&b, "r%d := {", rule)
		for i := range width {
			fmt.Fprintf(&b, "r%d, ", rule-rule%width-width+i)
		}
		b.WriteString("1}\n")
	}
	for i := range width {
		fmt.Fprintf(&b, "r%d := %d\n", i, i)
	}
	return b.String()
}

// TestExhaustingTreesAreRefused guarantees that Load rejects the exhausting rules with the place and the reason, in
// little memory and time. Each tree has a process of its own, since Go can't recover from lack of memory or stack.
func TestExhaustingTreesAreRefused(t *testing.T) {
	all := exhausting()
	if name := os.Getenv(provedCase); name != "" {
		prove(t, all[name].rules)
		return
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), provedWithin)
			defer cancel()
			child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestExhaustingTreesAreRefused$")
			child.Env = append(os.Environ(), provedCase+"="+name)
			out, err := child.CombinedOutput()
			text := string(out[:min(len(out), 2000)])
			if err != nil || !strings.Contains(text, "refused: ") || !strings.Contains(text, c.want) || !strings.Contains(text, "x/x") {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// prove limits the memory of this process, proves a tree with these rules, and prints the problems.
func prove(t *testing.T, rules string) {
	t.Helper()
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: provedIn, Max: provedIn}))
	file := "x/x.rego"
	if strings.HasPrefix(rules, "package") {
		file = "x/x_test.rego"
	} else {
		rules = "package x\n\n" + rules
	}
	tree := policytest.Small(t).With(file, rules+"\n").
		With("authz/more.rego", "package authz\n\ndeny contains \"x\" if data.x.p\n\ndecision := {\"allow\": false, \"reason\": \"no\"} if deny\n")
	src, err := policies.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = proof.Prove(t.Context(), src); err == nil {
		t.Fatal("it was taken")
	}
	fmt.Println("refused: " + err.Error())
}

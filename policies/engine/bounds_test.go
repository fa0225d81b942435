package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// wide is 100 KB of spaces.
const wide = `sprintf("%100000d", [1])`

// greedy are conditions that make a large value of a small question.
func greedy() map[string]string {
	digits := "1" + strings.Repeat("0", 900)
	tooWide := strings.Repeat("%999999d", 100)
	tripled := []string{`a0 := json.marshal(input.subject)`}
	for i := range 40 {
		tripled = append(tripled, fmt.Sprintf(`a%d := array.concat([a%d, a%d], [a%d])`, i+1, i, i, i))
	}
	shared := strings.Join(tripled, "; ")
	return map[string]string{
		"replace":             `count(replace(` + wide + `, " ", ` + wide + `)) > 0`,
		"replace of nothing":  `count(replace(` + wide + `, "", ` + wide + `)) > 0`,
		"several replaced":    `count(strings.replace_n({" ": ` + wide + `}, ` + wide + `)) > 0`,
		"expression replaced": `count(regex.replace(` + wide + `, " ", ` + wide + `)) > 0`,
		"a group replaced":    `count(regex.replace(` + wide + `, "( +)", "` + strings.Repeat("$1", 1000) + `")) > 0`,
		"widths":              `count(sprintf("` + tooWide + `", [1])) > 0`,
		"a width given":       `count(sprintf("` + strings.Repeat("%[1]*d", 100) + `", [999999, 1])) > 0`,
		"one operand often":   `count(sprintf("` + strings.Repeat("%[1]s", 1000) + `", [` + wide + `])) > 0`,
		"concat":              `count(concat(` + wide + `, [s | some i in numbers.range(1, 1000); s := format_int(i, 10)])) > 0`,
		"a template":          `s := ` + wide + `; t := [s | some i in numbers.range(1, 1000); i > 0]; count($"{t}") > 0`,
		"a range":             `count(numbers.range(1, 1000000)) > 0`,
		"a range of steps":    `count(numbers.range_step(-1e9, 1e9, 7)) > 0`,
		"a range of no end":   `count(numbers.range(1, 1e300)) > 0`,
		"addresses":           `count(net.cidr_expand("10.0.0.0/8")) > 0`,
		"addresses, sixth":    `count(net.cidr_expand("::/0")) > 0`,
		"pairs of addresses":  `n := ["10.0.0.0/8" | some i in numbers.range(1, 2000); i > 0]; count(net.cidr_contains_matches(n, n)) > 0`,
		"a large product":     `product([` + strings.Repeat(digits+", ", 19) + digits + `]) * product([` + strings.Repeat(digits+", ", 19) + digits + `]) > 0`,
		"an exponent":         `floor(1e30000) > 0`,
		"an exponent's range": `count(numbers.range(1e30000, 1e30000)) > 0`,
		"shared parts, JSON":  shared + `; count(json.marshal(a40)) > 0`,
		"shared parts, text":  shared + `; count(sprintf("%v", [a40])) > 0`,
		"shared parts, walk":  shared + `; count([p | walk(a40, [p, _])]) > 0`,
		"indents":             `count(json.marshal_with_options({"a": {"b": [1, 2]}}, {"pretty": true, "indent": ` + wide + `, "prefix": sprintf("%999999d", [1])})) > 0`,
		"a large pattern":     `regex.match(concat("", ["(", concat("|", [p | some i in numbers.range(1, 1000); p := sprintf("%dx{1000}", [i])]), ")"]), "x")`,
		"a deep glob":         `glob.match(concat("", [p | some i in numbers.range(1, 20000); p := "{"]), [], "x")`,
		"many matches":        `count(regex.find_all_string_submatch_n("` + strings.Repeat("()", 100) + `", ` + wide + `, -1)) > 0`,
		"many parts":          `count([p | some i in numbers.range(1, 100); some p in split(sprintf("%*d", [100000, i]), "")]) > 0`,
		"elements":            `count([[a, b, c] | some a in numbers.range(1, 200); some b in numbers.range(1, 200); some c in numbers.range(1, 200)]) > 0`,
		"texts in a loop":     `count([s | some i in numbers.range(1, 10000); s := sprintf("%*d", [100000, i])]) > 0`,
		"in a call":           `made_of(` + wide + `) > 0`,
		"in an every":         `every s in [` + wide + `] { count(replace(s, "", s)) == 0 }`,
		"negated":             `not replace(` + wide + `, " ", ` + wide + `)`,
		"by another rule":     `count(made) > 0`,
		"with an input":       `count(made_of_input) > 0 with input.account.id as replace(` + wide + `, " ", ` + wide + `)`,
	}
}

const greedyRules = `decision := {"allow": true, "reason": "yes"} if { input.subject.exists; %s }

else := {"allow": false, "reason": "no"}

made_of(s) := count(replace(s, " ", s))

made := replace(%[2]s, " ", %[2]s)

made_of_input := input.account.id
`

// TestALargeValueOfASmallQuestionIsNotMade guarantees that the engine stops an evaluation before it takes much memory,
// for each amplifier. The observer counts the failure under a name of its own.
func TestALargeValueOfASmallQuestionIsNotMade(t *testing.T) {
	for name, condition := range greedy() {
		t.Run(name, func(t *testing.T) {
			var counted engine.Failure
			opts := engine.Options{Deadline: time.Minute, Verdicts: -1, Observer: engine.Observer{Evaluated: func(_ string, _ time.Duration, f engine.Failure) { counted = f }}}
			e := newEngine(t, policytest.Decision(t, fmt.Sprintf(greedyRules, condition, wide)), opts)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
			runtime.ReadMemStats(&after)
			wantStopped(t, d, err, resources.ErrPolicyMemory)
			if counted != engine.FailureMemory {
				t.Errorf("counted %q", counted)
			}
			if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 300 {
				t.Errorf("%d MiB were made", made)
			}
			if d, err := e.Decide(t.Context(), policytest.Question(&resources.Subject{AccountID: "acct-demo-v1"}, "account:user:read")); err != nil || d.Allowed {
				t.Errorf("the next one: %+v, %v", d, err)
			}
		})
	}
}

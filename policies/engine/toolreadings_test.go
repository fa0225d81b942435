package engine_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// TestRulesHoldForEachReading guarantees a denial where a rule or a schema denies what a server can read. The first
// denial is reported, and numbers beyond doubles are denied. A rule that reads a number's text gets its shortest one.
func TestRulesHoldForEachReading(t *testing.T) {
	tree := withTools(t, `deny contains "seven" if input.arguments.number == 7
deny contains "listed" if input.arguments.number in {8, 9}
deny contains "both" if { input.arguments.ratio == 0.5; input.arguments.id == 9007199254740993 }
deny contains "id" if input.arguments.id == 1152921504606846976
deny contains sprintf("%v", [input.arguments.told]) if input.arguments.told
deny contains "at" if [false, true][input.arguments.at]
deny contains "text" if sprintf("%v", [input.arguments.text]) == "5"`).
		With("mcp/desk/schema/data.json", `{"close": {"type": "object", "properties": {"amount": {"maximum": 100}, "kind": {"not": {"enum": [7]}}}}}`)
	e := newEngine(t, tree, engine.Options{})
	for _, c := range []struct{ tool, arguments, want string }{
		{"open", `{"number": 7.0000000000000000001}`, "seven"},
		{"open", `{"number": 6.9999999999999999999}`, "seven"},
		{"open", `{"number": 7.0000000000000001}`, "seven"},
		{"open", `{"number": 7.000000000000001}`, "allowed"},
		{"open", `{"number": 0.9000000000000000000001e1}`, "listed"},
		{"open", `{"ratio": 0.50000000000000000001, "id": 9007199254740993}`, "both"}, // as Python reads it
		{"open", `{"ratio": 0.50000000000000000001, "id": 9007199254740994}`, "allowed"},
		{"open", `{"id": 9007199254740993}`, "allowed"},
		{"open", `{"id": 1152921504606846977}`, "id"},
		{"open", `{"id": 1152921504606847000}`, "id"},
		{"open", `{"id": 1152921504606847105}`, "allowed"},
		{"open", `{"told": 7.0000000000000000001}`, "7"},
		{"open", `{"told": 5.0}`, "5"},
		{"open", `{"at": 1.0}`, "at"},
		{"open", `{"at": 10e-1}`, "at"},
		{"open", `{"text": 50e-1}`, "text"},
		{"open", `{"number": 1e309}`, "problem arguments: must have numbers within the range of doubles, up to about 1.8e308"},
		{"open", `{"number": 1, "Number": 7}`, `problem arguments: must not have both "Number" and "number", which differ in case alone`},
		{"close", `{"amount": 100.000000000000001}`, "problem arguments.amount: maximum: got 100, want 100"},
		{"close", `{"kind": 7.0000000000000000001}`, "problem arguments.kind: 'not' failed"},
		{"close", `{"kind": 7.000000000000001, "amount": 1}`, "allowed"},
		{"close", `{"ids": {"A": 1, "a": 2}}`, `problem arguments.ids: must not have both "A" and "a", which differ in case alone`},
	} {
		v, err := e.Pin().Arguments(t.Context(), deskCall(c.tool, c.arguments))
		got := v.Reasons
		for _, p := range v.Problems {
			got = append(got, "problem "+p.String())
		}
		if v.Allowed {
			got = append(got, "allowed")
		}
		if text := strings.Join(got, "|"); err != nil || text != c.want {
			t.Errorf("%s: %q, %v; want %q", c.arguments, text, err, c.want)
		}
	}
	e = newEngine(t, withTools(t, ""), engine.Options{})
	if v, err := e.Pin().Arguments(t.Context(), deskCall("close", `{"labels": {"A": 1, "a": 2}}`)); err != nil || !v.Allowed {
		t.Errorf("twins without a rule: %+v, %v", v, err)
	}
}

// near returns a number near a constant, in a random spelling.
func near(r *rand.Rand, constant string) string {
	value, _ := new(big.Rat).SetString(constant)
	if r.IntN(5) > 0 {
		size := new(big.Int).Exp(big.NewInt(10), big.NewInt(r.Int64N(40)), nil)
		step := new(big.Rat).SetFrac(big.NewInt(r.Int64N(5)-2), size)
		if r.IntN(3) == 0 {
			step.Mul(step, new(big.Rat).SetInt(size)).Mul(step, big.NewRat(1<<r.IntN(10), 1))
		}
		value.Add(value, step)
	}
	text := value.FloatString(45)
	if r.IntN(2) == 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if power := r.IntN(7) - 3; power != 0 {
		text = value.Mul(value, new(big.Rat).SetFrac(big.NewInt(1000), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(3+power)), nil))).FloatString(50)
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + []string{"e", "E"}[r.IntN(2)] + strconv.Itoa(power)
	}
	return text
}

// readAs returns the values that servers read: the exact one, the shortest decimal of its double, and the double.
func readAs(text string) []*big.Rat {
	double, _ := strconv.ParseFloat(text, 64)
	value, _ := new(big.Rat).SetString(text)
	decimal, _ := new(big.Rat).SetString(strconv.FormatFloat(double, 'g', -1, 64))
	if double >= 1<<53 || double <= -1<<53 {
		return []*big.Rat{value, decimal, new(big.Rat).SetFloat64(double)}
	}
	return []*big.Rat{value, decimal}
}

// TestNoSpellingOfANumberEvadesARule guarantees for random numbers near the constants of rules and schemas: a call is
// denied if a rule denies the number as it is written or as a double, and else it is not.
func TestNoSpellingOfANumberEvadesARule(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	constants := []string{"7", "-3", "0", "100", "0.1", "100.5", "9007199254740992", "9007199254740993", "1152921504606846976", "-1152921504606847000", "1e22", "1e-7"}
	operators := map[string]func(int) bool{
		"in": func(c int) bool { return c == 0 }, "==": func(c int) bool { return c == 0 }, ">": func(c int) bool { return c > 0 },
		">=": func(c int) bool { return c >= 0 }, "<": func(c int) bool { return c < 0 }, "<=": func(c int) bool { return c <= 0 },
	}
	keywords := map[string]string{"in": `{"not": {"enum": [%s, "x"]}}`, "==": `{"not": {"const": %s}}`, ">": `{"maximum": %s}`, ">=": `{"exclusiveMaximum": %s}`, "<": `{"minimum": %s}`, "<=": `{"exclusiveMinimum": %s}`}
	var rules, schema []string
	for i, constant := range constants {
		for operator := range operators {
			right := map[bool]string{true: `{` + constant + `, "x"}`, false: constant}[operator == "in"]
			rules = append(rules, fmt.Sprintf(`deny contains "no" if { input.arguments.rule == "%d%s"; input.arguments.n %s %s }`, i, operator, operator, right))
			schema = append(schema, fmt.Sprintf(`"%d%s": `+keywords[operator], i, operator, constant))
		}
	}
	tree := withTools(t, strings.Join(rules, "\n")).With("mcp/desk/schema/data.json", `{"close": {"properties": {`+strings.Join(schema, ", ")+`}}}`)
	pinned := newEngine(t, tree, engine.Options{}).Pin()
	counted := map[bool]int{}
	for range 1_500 {
		i := r.IntN(len(constants))
		sent := near(r, constants[i])
		constant, _ := new(big.Rat).SetString(constants[i])
		for operator, denies := range operators {
			want := false
			for _, value := range readAs(sent) {
				want = want || denies(value.Cmp(constant))
			}
			v, err := pinned.Arguments(t.Context(), deskCall("close", fmt.Sprintf(`{"%d%s": %s}`, i, operator, sent)))
			if err != nil || v.Allowed == want {
				t.Fatalf("schema, %s %s %s: %+v, %v", sent, operator, constants[i], v, err)
			}
			// OPA takes some fractions for equal whose doubles are: its exact reading can be either then.
			either := !constant.IsInt() && readAs(sent)[1].Cmp(constant) == 0 && !denies(0)
			v, err = pinned.Arguments(t.Context(), deskCall("open", fmt.Sprintf(`{"rule": "%d%s", "n": %s}`, i, operator, sent)))
			if err != nil || v.Allowed == want && !either {
				t.Fatalf("rule, %s %s %s: %+v, %v", sent, operator, constants[i], v, err)
			}
			counted[v.Allowed]++
		}
	}
	if min(counted[true], counted[false]) < 1_000 {
		t.Errorf("the calls are one-sided: %v", counted)
	}
}

package proof_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

func tested(t *testing.T, tree policytest.Tree, run proof.TestRun) (output string, passed bool, err error) {
	t.Helper()
	src, err := policies.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	passed, err = run.Tests(context.Background(), src, &out)
	return out.String(), passed, err
}

// TestARunOfTestsTellsWhatFailed guarantees that a run prints each failed test with its values, and returns whether all
// passed.
func TestARunOfTestsTellsWhatFailed(t *testing.T) {
	small := policytest.Small(t)
	for name, c := range map[string]struct {
		rule, says string
		passed     bool
	}{
		"passes":           {"test_x if authz.decision.reason == \"no\" with input as {}", "PASS: 2/2", true},
		"fails":            {"test_x if {\n\td := authz.decision with input as {}\n\td.reason == \"yes\"\n}", `d.reason: "no"`, false},
		"a case fails":     {"test_x[name] if {\n\tsome name, want in {\"a\": \"no\", \"b\": \"yes\"}\n\td := authz.decision with input as {}\n\td.reason == want\n}", "b: FAIL", false},
		"prints":           {"test_x if {\n\tprint(\"seen\", 1)\n\t1 == 2\n}", "seen 1", false},
		"a built-in fails": {"test_x if not to_number(\"x\") == 1", "invalid syntax", false},
		"is switched off":  {"todo_test_x if 1 == 1", "SKIPPED: 1/2", false},
		"says where":       {"test_x if 1 == 2", "authz/x_test.rego:3:", false},
	} {
		t.Run(name, func(t *testing.T) {
			output, passed, err := tested(t, small.With("authz/x_test.rego", "package authz_test\n\n"+strings.ReplaceAll(c.rule, "authz.", "data.authz.")+"\n"), proof.TestRun{})
			if err != nil || passed != c.passed || !strings.Contains(output, c.says) {
				t.Errorf("passed %v, %v:\n%s", passed, err, output)
			}
		})
	}
}

// TestARunOfTestsTellsWhatIsNotCovered guarantees that a run prints the lines without coverage, and fails below the
// threshold.
func TestARunOfTestsTellsWhatIsNotCovered(t *testing.T) {
	small := policytest.Small(t)
	for threshold, good := range map[float64]bool{0: true, 5: true, 90: false} {
		output, passed, err := tested(t, small, proof.TestRun{Coverage: true, Threshold: threshold})
		if err != nil || passed != good || !strings.Contains(output, "authz/authz.rego: not covered: ") || !strings.Contains(output, "\nCOVERAGE: ") {
			t.Errorf("%v: passed %v, %v:\n%s", threshold, passed, err, output)
		}
	}
}

// TestARunOfTestsTakesWhatTheGateTakes guarantees that a run, like Load, checks guards and rules about the decision log
// against the schemas of their own inputs.
func TestARunOfTestsTakesWhatTheGateTakes(t *testing.T) {
	const guard = "package guards\n\ndeny contains \"no\" if {\n\tsome row in input.new_access\n\trow.route == \"project.delete\"\n}\n"
	const mask = "package system.log\n\nmask contains \"/input/subject\" if input.path == \"authz/decision\"\n"
	tree := policytest.Small(t).With("guards/projects.rego", guard).With("log/mask.rego", mask)
	must.Get(load(t, tree))(t)
	if output, passed, err := tested(t, tree, proof.TestRun{}); !passed || err != nil {
		t.Errorf("passed %v, %v:\n%s", passed, err, output)
	}
	_, _, err := tested(t, tree.With("guards/projects.rego", strings.Replace(guard, "row.route", "row.rout", 1)), proof.TestRun{})
	if err == nil || !strings.Contains(err.Error(), "guards/projects.rego:5: rego_type_error: undefined ref: ") {
		t.Errorf("a misspelt field of a guard: %v", err)
	}
}

// TestARunOfTestsNamesWhatIsWrong guarantees that a run reports a malformed tree, and an expression without a matching
// test.
func TestARunOfTestsNamesWhatIsWrong(t *testing.T) {
	small := policytest.Small(t)
	for name, c := range map[string]struct {
		tree     policytest.Tree
		run      proof.TestRun
		says     string
		problems bool
	}{
		"no Rego":         {small.With("authz/x.rego", "package authz\n\nx if {"), proof.TestRun{}, "authz/x.rego:3", true},
		"a misspelt name": {small.With("authz/x.rego", "package authz\n\nx := input.acton"), proof.TestRun{}, "authz/x.rego:3", true},
		"a network":       {small.With("authz/x.rego", "package authz\n\nx := http.send({})"), proof.TestRun{}, "no network", true},
		"no such test":    {small, proof.TestRun{Run: "other"}, "no such tests", false},
		"no expression":   {small, proof.TestRun{Run: "("}, "regular expression", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, passed, err := tested(t, c.tree, c.run)
			var problems proof.Problems
			if passed || err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, &problems) != c.problems {
				t.Errorf("%v, %v", passed, err)
			}
		})
	}
}

// TestVerdictsThatAreNotCachedHaveTheirReason guarantees that Set.Uncached names the reason and its place for each
// entry point.
func TestVerdictsThatAreNotCachedHaveTheirReason(t *testing.T) {
	small := policytest.Small(t)
	for name, c := range map[string]struct{ condition, says string }{
		"cached":      {`input.action.id != "x"`, ""},
		"the time":    {`input.now > 5`, "authz/x.rego:3: reads input.now"},
		"the whole":   {`json.marshal(input) != "x"`, "authz/x.rego:3: takes the whole of input, and the time is in it"},
		"a with":      {`input.action.id != "x" with input.action as {"id": "y"}`, "authz/x.rego:3: has a with"},
		"the clock":   {`time.now_ns() > 5`, "authz/x.rego:3: calls time.now_ns, which answers differently at different times"},
		"in a lookup": {`{1: 2}[rand.intn("x", 2)] > 5`, "authz/x.rego:3: calls rand.intn, which answers differently at different times"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := small.With("authz/x.rego", "package authz\n\nx if "+c.condition+"\n").
				With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, "input.subject.status == \"ACTIVE\"", "input.subject.status == \"ACTIVE\"\n\tx", 1))
			set := must.Get(load(t, tree))(t)
			var all []string
			for _, entry := range set.Uncached() {
				all = append(all, entry.Entry+" "+strings.Join(entry.Because, "; "))
			}
			want := ""
			if c.says != "" {
				want = "decision " + c.says + "\naccess " + c.says
			}
			if got := strings.Join(all, "\n"); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestVerdictsThatAreCachedByATextNameIt guarantees that Set.ByText names the rule and the text for each entry point.
func TestVerdictsThatAreCachedByATextNameIt(t *testing.T) {
	small := policytest.Small(t)
	for condition, says := range map[string]string{
		`input.action.id != "x"`:  "",
		`input.clock.hour != 3`:   "",
		`input.account.id != "x"`: "decision authz/x.rego:3: reads input.account.id\naccess authz/x.rego:3: reads input.account.id",
		`input.now > 5`:           "", // its verdicts are not cached
	} {
		tree := small.With("authz/x.rego", "package authz\n\nx if "+condition+"\n").
			With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, "input.subject.status == \"ACTIVE\"", "input.subject.status == \"ACTIVE\"\n\tx", 1))
		set := must.Get(load(t, tree))(t)
		var all []string
		for _, entry := range set.ByText() {
			all = append(all, entry.Entry+" "+strings.Join(entry.Because, "; "))
		}
		if got := strings.Join(all, "\n"); got != says {
			t.Errorf("%s: %q, want %q", condition, got, says)
		}
	}
}

// TestAReportThatCanNotBeWrittenIsAnError guarantees that a run returns an error, and does not pass, if its output
// can't be written.
func TestAReportThatCanNotBeWrittenIsAnError(t *testing.T) {
	src := must.Get(policies.Read(policytest.Small(t)))(t)
	reader, writer := io.Pipe()
	_ = reader.Close()
	if passed, err := (proof.TestRun{}).Tests(t.Context(), src, writer); passed || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("passed %v, %v", passed, err)
	}
}

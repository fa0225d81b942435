package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

const deskTools = `{"upstream": "d", "pin": "names", "tools": {
	"close": {"action": "project:desk:close", "effect": "write"}, "open": {"action": "project:desk:open", "effect": "read"}}}`

// withTools is the small tree with a server "desk", a schema of its tool close, and rules over the arguments.
func withTools(tb testing.TB, rules string) policytest.Tree {
	tb.Helper()
	schema := policytest.Copy(tb, policies.Tree())["schemas/mcp/schema.json"]
	tree := policytest.Small(tb).With("schemas/mcp/schema.json", string(schema.Data)).With("mcp/desk/data.json", deskTools).
		With("mcp/desk/schema/data.json", `{"close": {"type": "object", "properties": {"amount": {"type": "number"}, "reason": {"type": "string"}}}}`)
	if rules == "" {
		return tree
	}
	return tree.With("tools/desk/rules.rego", "package tools.desk\n\n"+rules+"\n")
}

// deskCall is a call of a tool by an agent for bob.
func deskCall(tool, arguments string) *resources.ToolCall {
	return &resources.ToolCall{
		Server: "desk", Tool: tool, UserID: "user-bob-v1", Acts: true, AgentID: "agent-a-v1", AccountID: "acct-demo-v1", ProjectID: "proj-a-v1",
		Arguments: []byte(arguments), Now: 1_767_225_600_000,
	}
}

// TestRulesOverArgumentsDeny guarantees a denial by each message, the schema before the rules,
// and an input with all members.
func TestRulesOverArgumentsDeny(t *testing.T) {
	e := newEngine(t, withTools(t, `deny contains "too much" if input.arguments.amount > 100
deny contains sprintf("not %s", [input.tool]) if input.tool == "open"
deny contains "b" if input.arguments.reason == "all"
deny contains "a" if input.arguments.reason == "all"
deny contains "" if input.arguments.reason == "empty"
deny contains "seen" if {
	input.arguments.reason == "input"
	input == {
		"user": {"id": "user-bob-v1"}, "agent": {"named": true, "id": "agent-a-v1"}, "account": {"id": "acct-demo-v1"},
		"target": {"project": "proj-a-v1"}, "tool": "close", "arguments": {"reason": "input"}, "now": 1767225600000,
	}
}`), engine.Options{})
	for _, c := range []struct{ tool, arguments, want string }{
		{"close", `{"amount": 100}`, "allowed"},
		{"close", ``, "allowed"},
		{"close", `{"amount": 100.5}`, "too much"},
		{"close", `{"amount": 1e3}`, "too much"},
		{"close", `{"amount": 101, "reason": "all"}`, "a|b|too much"},
		{"close", `{"reason": "empty"}`, ""},
		{"close", `{"reason": "input"}`, "seen"},
		{"open", `{"any": [1]}`, "not open"},
		{"close", `{"amount": "101", "Reason": "x"}`, `problem arguments.Reason: must be spelt "reason"|problem arguments.amount: got string, want number`},
		{"open", `{"any": 1e500}`, "problem arguments: must have numbers of at most 128 characters, with an exponent of at most 400"},
		{"open", `[]`, "problem arguments: must be a JSON object"},
	} {
		v, err := e.Pin().Arguments(t.Context(), deskCall(c.tool, c.arguments))
		got := v.Reasons
		for _, p := range v.Problems {
			got = append(got, "problem "+p.String())
		}
		if v.Allowed {
			got = append(got, "allowed")
		}
		if err != nil || strings.Join(got, "|") != c.want || v.Allowed != (c.want == "allowed") {
			t.Errorf("%s %s: %q, %v", c.tool, c.arguments, got, err)
		}
	}
}

// TestRulesOverArgumentsWithoutAnAnswerDeny guarantees an error with the zero verdict for each failure.
// The error quotes no argument.
func TestRulesOverArgumentsWithoutAnAnswerDeny(t *testing.T) {
	const forever = `deny contains "x" if { some a in numbers.range(1, 10000); some b in numbers.range(1, 10000); a * b == -1; input.arguments.amount }`
	for name, c := range map[string]struct {
		rules string
		why   engine.Failure
	}{
		"a number":        {`deny contains input.arguments.amount`, engine.FailureIllTyped},
		"one of two":      {"deny contains \"a\" if input.arguments.amount\ndeny contains [1] if input.arguments.amount", engine.FailureIllTyped},
		"too long":        {`deny contains concat("", [input.arguments.reason | some _ in numbers.range(1, 7000)])`, engine.FailureIllTyped},
		"a built-in":      {`deny contains "x" if to_number(input.arguments.reason) > 5`, engine.FailureBuiltin},
		"a conflict":      {"deny contains \"x\" if two == 1\ntwo := input.arguments.amount\ntwo := 3", engine.FailureConflict},
		"a loop":          {forever, engine.FailureTimeout},
		"too much memory": {`deny contains "x" if count(numbers.range(1, 10000000)) == input.arguments.amount`, engine.FailureMemory},
	} {
		t.Run(name, func(t *testing.T) {
			counted, limit := map[string]engine.Failure{}, 5*time.Second
			if c.why == engine.FailureTimeout {
				limit = 50 * time.Millisecond
			}
			e := newEngine(t, withTools(t, c.rules), engine.Options{
				Deadline: limit, Observer: engine.Observer{Evaluated: func(entry string, _ time.Duration, why engine.Failure) { counted[entry] = why }},
			})
			v, err := e.Pin().Arguments(t.Context(), deskCall("close", `{"amount": 7, "reason": "hunter22222"}`))
			if err == nil || v.Allowed || v.Problems != nil || v.Reasons != nil || engine.FailureOf(err) != c.why || counted["arguments"] != c.why {
				t.Fatalf("%+v, %v, counted %v", v, err, counted)
			}
			if strings.Contains(err.Error(), "hunter") || resources.IsKind(err, resources.KindUnavailable) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestArgumentsWithoutRulesCostNothing guarantees no evaluation for a tool without rules and schema,
// a verdict by the schema alone, and an error for an unknown tool or server.
func TestArgumentsWithoutRulesCostNothing(t *testing.T) {
	e := newEngine(t, withTools(t, ""), engine.Options{})
	pinned, call := e.Pin(), deskCall("open", `{"any": 1e500}`)
	if n := testing.AllocsPerRun(100, func() {
		if v, err := pinned.Arguments(t.Context(), call); err != nil || !v.Allowed {
			t.Fatalf("%+v, %v", v, err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	if v, err := pinned.Arguments(t.Context(), deskCall("close", `{"amount": ""}`)); err != nil || v.Allowed || len(v.Problems) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := pinned.Arguments(t.Context(), deskCall("close", `{"amount": 1}`)); err != nil || !v.Allowed {
		t.Errorf("%+v, %v", v, err)
	}
	other := deskCall("open", `{}`)
	other.Server = "other"
	for _, call := range []*resources.ToolCall{deskCall("reopen", `{}`), deskCall("", ``), other, {}} {
		if v, err := pinned.Arguments(t.Context(), call); err == nil || v.Allowed {
			t.Errorf("%+v: %+v", call, v)
		}
	}
}

// TestArgumentsWaitAtTheGate guarantees an error for a full gate, after which a caller may retry, and for an ended request.
func TestArgumentsWaitAtTheGate(t *testing.T) {
	g := gate.New(1, 0)
	e := newEngine(t, withTools(t, `deny contains "x" if input.arguments.amount > 5`), engine.Options{Gate: g})
	if err := g.Enter(t.Context(), "acct-other-v1"); err != nil {
		t.Fatal(err)
	}
	if v, err := e.Pin().Arguments(t.Context(), deskCall("close", `{"amount": 1}`)); !resources.IsKind(err, resources.KindUnavailable) || v.Allowed {
		t.Errorf("%+v, %v", v, err)
	}
	g.Leave()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := e.Pin().Arguments(ended, deskCall("close", `{"amount": 1}`)); !errors.Is(err, context.Canceled) && engine.FailureOf(err) != engine.FailureCancelled || v.Allowed {
		t.Errorf("%+v, %v", v, err)
	}
	if !slices.Contains(engine.CountedEntries(), "arguments") {
		t.Error("the evaluations are not counted")
	}
}

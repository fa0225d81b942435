package engine_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

const denying = `package authz

deny contains "closed on mondays" if input.action.id == "project:odd:open"

deny contains sprintf("%s is closed", [input.target.resource]) if {
	input.action.id == "project:odd:open"
	input.target.resource != ""
}

public_reasons contains ["closed on mondays", "deny_rule"] if "closed on mondays" in deny
`

// closed is the embedded tree with those rules, and the action that they name.
func closed(t *testing.T) policytest.Tree {
	return policytest.Copy(t, policies.Tree()).With("authz/closed.rego", denying).
		With("actions/data.json", `{"known": {"project:odd:open": {"description": "Opens."}}}`)
}

// TestDenyRulesHaveTheirPlace guarantees that an explanation lists each firing rule with file and line, and no other
// rule.
func TestDenyRulesHaveTheirPlace(t *testing.T) {
	p := newEngine(t, closed(t), engine.Options{}).Pin()
	said, err := p.Explain(t.Context(), policytest.Question(policytest.AdminSubject(), "project:odd:open"))
	want := []resources.PolicyRule{
		{Reason: "closed on mondays", At: "authz/closed.rego:3"}, {Reason: "instances/i-1 is closed", At: "authz/closed.rego:5"},
	}
	if err != nil || !reflect.DeepEqual(said.Denies, want) || !said.AllDenies {
		t.Errorf("%+v, %v", said, err)
	}
	said, err = p.Explain(t.Context(), policytest.Question(policytest.ActiveSubject(), "project:odd:open"))
	if err != nil || len(said.Denies) != 2 || said.AllDenies || !reflect.DeepEqual(said.PublicDenies, map[string]bool{"closed on mondays": true}) {
		t.Errorf("without a role: %+v, %v", said, err)
	}
	said, err = p.Explain(t.Context(), policytest.Question(policytest.AdminSubject(), "project:odd:close"))
	if err != nil || len(said.Denies) != 0 {
		t.Errorf("another action: %+v, %v", said, err)
	}
}

// TestNamesOfVariablesHideNoReason guarantees that the names of variables in a rule hide none of its elements.
func TestNamesOfVariablesHideNoReason(t *testing.T) {
	for _, name := range []string{"element", "__explained__", "value"} {
		tree := policytest.Copy(t, policies.Tree()).With("authz/odd.rego", `package authz

deny contains "closed" if {
	`+name+` = input.action.verb
	startswith(`+name+`, "create")
}
`)
		set, q := must.Get(compile(t.Context(), must.Get(policies.Read(tree))(t)))(t), policytest.Question(policytest.AdminSubject(), "project:security_group:create")
		rule := set.Compiled().Compiler.GetRulesExact(ast.MustParseRef("data.authz.deny"))[0]
		elements, err := set.Elements(t.Context(), rule, engine.InputOf(&q), q.Now, time.Minute)
		if err != nil || elements.String() != `{"closed"}` {
			t.Errorf("%s: %v, %v", name, elements, err)
		}
		said, err := newEngine(t, tree, engine.Options{}).Pin().Explain(t.Context(), q)
		if err != nil || len(said.Denies) != 1 {
			t.Errorf("%s: %+v, %v", name, said.Denies, err)
		}
	}
}

// TestReasonsThatAreNoTextAreTold guarantees that an explanation quotes such reasons as the policy wrote them, up to a
// size. A part is counted each time the value repeats it.
func TestReasonsThatAreNoTextAreTold(t *testing.T) {
	p := newEngine(t, policytest.Copy(t, policies.Tree()).With("authz/odd.rego", `package authz

deny contains {"why": [1]} if input.action.id == "project:security_group:create"

deny contains [hundred | some x in hundred] if input.action.id == "project:security_group:create"

hundred := numbers.range(1, 100)
`), engine.Options{}).Pin()
	said, err := p.Explain(t.Context(), policytest.Question(policytest.AdminSubject(), "project:security_group:create"))
	want := []resources.PolicyRule{{Reason: `{"why": [1]}`, At: "authz/odd.rego:3"}, {Reason: "a reason that is too large", At: "authz/odd.rego:5"}}
	if err != nil || !reflect.DeepEqual(said.Denies, want) {
		t.Errorf("%+v, %v", said, err)
	}
}

// TestConditionsAreTheTrees guarantees that an explanation lists the conditions by name, with text and result.
func TestConditionsAreTheTrees(t *testing.T) {
	p := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{}).Pin()
	suspended := policytest.AdminSubject()
	suspended.AccountStatus = resources.StatusSuspended
	said, err := p.Explain(t.Context(), policytest.Question(suspended, "project:instance:read"))
	if err != nil || len(said.Conditions) != 9 {
		t.Fatalf("%+v, %v", said, err)
	}
	for i, c := range said.Conditions {
		if c.Holds == (c.Name == "needs_active_account") || c.Says == "" || i > 0 && c.Name <= said.Conditions[i-1].Name {
			t.Errorf("%+v", c)
		}
		if place := p.ConditionAt(c.Name); !strings.HasPrefix(place, "authz/conditions.rego:") {
			t.Errorf("%s is at %q", c.Name, place)
		}
	}
	if place := p.ConditionAt("needs_nothing"); place != "" {
		t.Errorf("a condition that is none is at %q", place)
	}
}

// TestTreeWithoutExplainingRules guarantees that it is explained all the same, and tells the user nothing.
func TestTreeWithoutExplainingRules(t *testing.T) {
	p := newEngine(t, policytest.Small(t), engine.Options{}).Pin()
	q := policytest.Question(policytest.AdminSubject(), "account:user:read")
	said, err := p.Explain(t.Context(), q)
	if err != nil || len(said.Conditions)+len(said.Denies)+len(said.Told)+len(said.PublicDenies) != 0 || said.AllDenies {
		t.Errorf("%+v, %v", said, err)
	}
	if _, says, err := p.Granted(t.Context(), q); says || err != nil {
		t.Errorf("it has no granting_role: %v %v", says, err)
	}
}

// TestSupposingIsDeciding guarantees the same verdict without the cache, and that a failure is none.
func TestSupposingIsDeciding(t *testing.T) {
	e := newEngine(t, closed(t).
		With("actions/data.json", `{"strict": true, "known": {"project:odd:open": {"description": "Opens."}}}`), engine.Options{})
	p := e.Pin()
	for _, s := range []*resources.Subject{policytest.AdminSubject(), policytest.ActiveSubject()} {
		for _, action := range []string{"account:user:read", "project:odd:open", "project:odd:unlisted"} {
			q := policytest.Question(s, action)
			want := must.Get(p.Decide(t.Context(), q))(t)
			got, err := p.Suppose(t.Context(), q)
			if err != nil || got.Allowed != want.Allowed || got.Reason != want.Reason || got.Code != want.Code {
				t.Errorf("%s: %+v, %v, and decided %+v", action, got, err, want)
			}
		}
	}
	if place := p.GrantingAt(resources.Action{ID: "project:odd:unlisted"}); place != "actions/data.json" {
		t.Errorf("what is not listed is told at %q", place)
	}
	other := policytest.Question(policytest.AdminSubject(), "account:user:read")
	other.AccountID = "acct-other-v1"
	if d, err := p.Suppose(t.Context(), other); !resources.IsKind(err, resources.KindUnavailable) || d.Allowed {
		t.Errorf("facts of another account: %+v, %v", d, err)
	}
}

// TestFailingRulesExplainNothing guarantees an error in place of half an explanation.
func TestFailingRulesExplainNothing(t *testing.T) {
	const endless = "package authz\n\ndeny contains \"never\" if {\n\tinput.action.id == \"project:odd:open\"\n\t" + policytest.Endless + "\n}\n"
	p := newEngine(t, closed(t).With("authz/closed.rego", endless), engine.Options{Deadline: 50e6}).Pin()
	q := policytest.Question(policytest.AdminSubject(), "project:odd:open")
	said, err := p.Explain(t.Context(), q)
	if !resources.IsKind(err, resources.KindUnavailable) || !errors.Is(err, resources.ErrPolicyTime) || said.Conditions != nil {
		t.Errorf("%+v, %v", said, err)
	}
	if granted, _, err := p.Granted(t.Context(), q); !granted || err != nil {
		t.Errorf("the role itself: %v %v", granted, err)
	}
}

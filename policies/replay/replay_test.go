package replay_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/format"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/replay"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

func compiled(t testing.TB, tree policytest.Tree) *engine.Set {
	t.Helper()
	src := must.Get(policies.Read(tree))(t)
	set, _ := must.Two(proof.Compile(t.Context(), src))(t)
	return set
}

func action(t testing.TB, id string) resources.Action {
	t.Helper()
	return must.Get(resources.ParseAction(id))(t)
}

// judgement is a decision that the embedded tree would deny.
func judgement(t testing.TB) *resources.Judgement {
	t.Helper()
	return &resources.Judgement{
		ID: "id1", Path: resources.PathDecision, Decision: resources.Decision{Allowed: true, Reason: "so it was\n} #"},
		Question: resources.Question{Action: action(t, "project:instance:read"), AccountID: "acct-a-v1", Now: resources.At(time.Now())},
	}
}

// TestNothingIsGuessed: a record without a question to policy, or without a rule in the tree, is counted and not judged. Another
// verdict is a flip, with a test.
func TestNothingIsGuessed(t *testing.T) {
	r := replay.New(compiled(t, policytest.Copy(t, policies.Tree())))
	r.Add(t.Context(), &resources.Judgement{Unasked: true})
	r.Add(t.Context(), &resources.Judgement{Path: "authz/other"})
	r.Add(t.Context(), &resources.Judgement{Path: "apps/gone/decision", Question: resources.Question{App: &resources.Entities{}}})
	r.Add(t.Context(), &resources.Judgement{Path: resources.PathAccess, Question: resources.Question{Route: &resources.Route{Name: "gone.get"}}})
	r.Add(t.Context(), &resources.Judgement{Path: resources.PathAccess})
	r.Add(t.Context(), judgement(t))
	r.Missing(7, 0, 1)
	report := r.Report()
	if report.Judged != 1 || len(report.NotJudged) != 7 || report.NotJudged[replay.WhyLost] != 7 || report.NotJudged[replay.WhyUnreadable] != 1 || report.Whole() || len(report.Flips) != 1 {
		t.Errorf("%+v", report)
	}
	if f := report.Flips[0]; f.Allowed || f.Count != 1 || f.Action != "project:instance:read" || f.Place != "account" || !report.Differs() {
		t.Errorf("%+v", f)
	}
	text := must.Get(report.Tests())(t)
	if !strings.Contains(string(text), "test_id1 if {\n\tallowed(data.authz.decision) with input as {") {
		t.Errorf("%s", text)
	}
	if formatted, err := format.Source("x_test.rego", text); err != nil || !bytes.Equal(formatted, text) {
		t.Errorf("%v; opa fmt makes another text of it:\n%s\n%s", err, text, formatted)
	}
}

// TestAnAppIsAskedAboutItsOwnTypes guarantees that no app judges a decision about a type of another app, or of none: its
// gateway would not ask it. Neither does it judge one with a masked type.
func TestAnAppIsAskedAboutItsOwnTypes(t *testing.T) {
	j := &resources.Judgement{
		ID: "id1", Path: "apps/docs/decision", Decision: resources.Decision{Allowed: true},
		Question: resources.Question{Now: theTime, App: &resources.Entities{
			ResourceType: "doc", Subject: []byte(`{}`), Action: []byte(`{"name": "read"}`), Resource: []byte(`{"type": "doc", "id": "d1", "owner": "o"}`),
		}},
	}
	tree := theTree(t)
	moved := tree.With("apps/docs/docs.rego", strings.Replace(string(tree["apps/docs/docs.rego"].Data), `{"doc"}`, `{"memo"}`, 1))
	for name, c := range map[string]struct {
		tree policytest.Tree
		part string
		want string
	}{
		"its type":      {tree, "/input/resource/id", ""},
		"another type":  {moved, "/input/resource/id", `the tree does not have: apps/docs for resources of type "doc"`},
		"a masked type": {tree, "/input/resource/type", "masked, and the tree reads it: input.resource.type"},
	} {
		set, input := compiled(t, c.tree), newInput(t, j)
		whole, part := replay.New(set), replay.New(set)
		whole.Add(t.Context(), j)
		part.AddMasked(t.Context(), masked(j, input, c.part))
		if got := part.Report(); (got.Judged == 1) != (c.want == "") || c.want != "" && got.NotJudged[c.want] != 1 {
			t.Errorf("%s, masked: %+v", name, got)
		}
		if got := whole.Report(); (got.Judged == 1) != (c.tree["apps/docs/docs.rego"] == tree["apps/docs/docs.rego"]) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestATreeThatFailsIsFoundOut: its failures are counted as neither a verdict nor a difference of reasons.
func TestATreeThatFailsIsFoundOut(t *testing.T) {
	tree := policytest.Decision(t, `decision := {"allow": true, "reason": "x"} if to_number(input.account.id) > 0`)
	r := replay.New(compiled(t, tree))
	for _, account := range []string{"acct-a-v1", "acct-b-v1"} {
		j := judgement(t)
		j.Question.AccountID = account
		r.Add(t.Context(), j)
	}
	if report := r.Report(); report.Judged != 0 || len(report.Failed) != 1 || !report.Differs() || slices.Collect(maps.Values(report.Failed))[0] != 2 {
		t.Errorf("%+v", report)
	}
}

// TestNoTextOfARecordBecomesARule in the tests that are written of it.
func TestNoTextOfARecordBecomesARule(t *testing.T) {
	j := judgement(t)
	j.ID = "x if true\n\ntest_y"
	r := replay.New(compiled(t, policytest.Copy(t, policies.Tree())))
	r.Add(t.Context(), j)
	if text, err := r.Report().Tests(); err == nil {
		t.Errorf("%s", text)
	}
}

// TestACallIsJudgedByTheRowOfTheNewTree: the access words of a row are not recorded.
func TestACallIsJudgedByTheRowOfTheNewTree(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree())
	routes := string(tree["routes/data.json"].Data)
	const row, open = `"access": ["service:users:sync"]`, `"access": ["service:platform:admin"]`
	changed := tree.With("routes/data.json", strings.ReplaceAll(routes, row, open))
	j := &resources.Judgement{
		ID: "id1", Path: resources.PathAccess, Decision: resources.Decision{Allowed: true},
		Question: resources.Question{
			Principal: resources.Principal{Kind: resources.PrincipalService, ID: "service-a", Credential: resources.CredentialToken, Scopes: []string{"users:sync"}},
			Route:     &resources.Route{Name: "user.find", Access: []string{"service:users:sync"}, Effect: resources.EffectRead},
		},
	}
	input := newInput(t, j)
	for name, c := range map[string]struct {
		tree  policytest.Tree
		flips int
	}{"the same": {tree, 0}, "another": {changed, 1}} {
		r := replay.New(compiled(t, c.tree))
		r.Add(t.Context(), j)
		r.AddMasked(t.Context(), masked(j, input))
		report := r.Report()
		if report.Judged != 2 || len(report.Flips) != c.flips || c.flips > 0 && (report.Flips[0].Count != 2 || report.Flips[0].Route != "user.find") {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func newInput(t testing.TB, j *resources.Judgement) []byte {
	t.Helper()
	return must.Get(engine.RecordedInput(j))(t)
}

// masked is the judgement as an event without these parts.
func masked(j *resources.Judgement, input []byte, parts ...string) *replay.Masked {
	m := &replay.Masked{
		Masked: engine.Masked{Path: j.Path, At: j.Question.Now, Input: input}, ID: j.ID,
		Result: fmt.Appendf(nil, `{"allow":%t,"reason":%q,"code":%q}`, j.Decision.Allowed, j.Decision.Reason, j.Decision.Code),
	}
	if j.Question.App != nil {
		m.Result = fmt.Appendf(nil, `{"decision":%t}`, j.Decision.Allowed)
	}
	for _, part := range parts {
		if names := strings.Split(part, "/"); names[1] == "input" {
			m.Parts = append(m.Parts, names[2:])
		} else {
			m.ResultParts = append(m.ResultParts, names[2:])
		}
	}
	return m
}

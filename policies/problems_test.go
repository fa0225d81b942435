package policies_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestProblemsAreBounded guarantees that the problems of a tree are few enough for a line of a log. The others are counted.
func TestProblemsAreBounded(t *testing.T) {
	var rules, roles strings.Builder
	for i := range 800 {
		fmt.Fprintf(&rules, "own_%d if input.nothing\n", i)
		fmt.Fprintf(&roles, `"role_%d": {}, `, i)
	}
	tree := policytest.Small(t).With("x/x.rego", "package x\n\n"+rules.String())
	_, _, err := proof.Prove(t.Context(), must.Get(policies.Read(tree))(t))
	refused, _ := errors.AsType[proof.Problems](err)
	expectFew(t, refused)
	tree = policytest.Tree{}.With("policy.json", `{"base": "embedded"}`).With("grants/data.json", "{"+roles.String()+`"role": {}}`)
	_, err = overlay.Read(tree)
	unmerged, _ := errors.AsType[overlay.Problems](err)
	expectFew(t, unmerged)
}

func expectFew(t *testing.T, problems []string) {
	t.Helper()
	if len(problems) != 501 || !strings.Contains(problems[500], " more problems: mend these first") {
		t.Errorf("%d problems, the last one %q", len(problems), problems[max(0, len(problems)-1):])
	}
}

// TestAProblemStaysOnItsLine guarantees that a name in a tree neither begins another line nor steers a terminal.
func TestAProblemStaysOnItsLine(t *testing.T) {
	tree := policytest.Tree{}.With("policy.json", `{"base": "embedded"}`).With("grants/data.json", `{"x\n\u001b[2J\u009b2J\u202eok: policy": {}}`)
	if _, err := overlay.Read(tree); err == nil || strings.ContainsAny(err.Error(), "\n\u001b\u009b\u202e") || !strings.Contains(err.Error(), "ok: policy: the name") {
		t.Errorf("%q", err)
	}
}

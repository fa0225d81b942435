package compare_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestCallersWhomNoRuleReadsAreNamed guarantees rows for each kind of caller and all states of the user when a change
// opens an entry point to everybody: a guard may look for any of them.
func TestCallersWhomNoRuleReadsAreNamed(t *testing.T) {
	small := policytest.Small(t)
	open := func(condition string) policytest.Tree {
		return small.With("authz/more.rego", "package authz\n\naccess := {\"allow\": true, \"reason\": \"x\"} if "+condition+"\n").
			With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, "access := ", "never := ", 1))
	}
	d, err := compare.Compare(t.Context(), compiled(t, open("input.grant.until < 1")), compiled(t, open("input.grant.until > 1")), 2)
	if err != nil {
		t.Fatal(err)
	}
	callers, users := map[string]bool{}, map[string]bool{}
	for _, row := range d.Rows {
		kind, _, _ := strings.Cut(row.Caller, " ")
		callers[kind] = true
		for _, state := range row.States["user"] {
			users[state] = true
		}
	}
	for _, kind := range []string{"self", "service", "nobody"} {
		if !callers[kind] {
			t.Errorf("no row for %s", kind)
		}
	}
	for _, state := range []string{"ACTIVE", "SUSPENDED", "INVITED"} {
		if !users[state] {
			t.Errorf("no row for a user who is %s", state)
		}
	}
}

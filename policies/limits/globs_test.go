package limits_test

import (
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
)

// TestAGlobEnds guarantees that glob.match does not try the many ways to lay the pieces of a pattern on a text. Callers choose
// the text. What people write is matched.
func TestAGlobEnds(t *testing.T) {
	long, path := strings.Repeat("ab", 100)+"y", "accounts/acct-a-v1/projects/proj-a-v1/instances/web-prod-1-eu-2"
	for _, c := range []struct {
		pattern, text string
		ends, matches bool
	}{
		{strings.Repeat("*[ab]", 8), long, false, false},
		{strings.Repeat("*{a,ab}", 8) + "?", long, false, false},
		{strings.Repeat("{a,aa,aaa}", 30), strings.Repeat("a", 60) + "y", false, false},
		{"accounts/*/projects/*/instances/*/disks/*", "accounts/" + strings.Repeat("x/projects/x/instances/x/disks/", 90), true, false},
		{"accounts/*/projects/*/instances/*", path, true, true},
		{"accounts/*/projects/*/instances/*", path + strings.Repeat("x", 8000), true, true},
		{"accounts/*/instances/*-{prod,stage}-*-{eu,us}-*", path, true, false},
		{"**-{prod,stage}-*-{eu,us}-*", path, true, true},
		{"project:{instance,disk}:{read,list}", "project:disk:list", true, true},
		{"", "", true, true},
	} {
		bounds, matched := limits.NewBounds(limits.Pace{}), false
		bounds.Start(t.Context(), time.Minute, limits.OfQuestion)
		operands := []*ast.Term{ast.StringTerm(c.pattern), ast.ArrayTerm(ast.StringTerm("/")), ast.StringTerm(c.text)}
		err := bounds.Builtins["charged:glob.match"].Func(topdown.BuiltinContext{}, operands, func(answer *ast.Term) error {
			matched = answer.Equal(ast.InternedTerm(true))
			return nil
		})
		if (err == nil) != c.ends || matched != c.matches {
			t.Errorf("%s on %d bytes: %t, %v", c.pattern, len(c.text), matched, err)
		}
	}
}

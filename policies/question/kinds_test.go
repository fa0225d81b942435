package question_test

import (
	"bytes"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestKeysOfTwoKindsDiffer guarantees different keys for a user and a service if the rules read different rows for them,
// even if these rows have the same values.
func TestKeysOfTwoKindsDiffer(t *testing.T) {
	module := must.Get(ast.ParseModule("authz.rego", `package authz

default decision := false

decision if {
	input.principal.kind == "user"
	lower(input.action.scope) == "service"
}

decision if {
	input.principal.kind == "service"
	lower(input.principal.id) == "somebody"
}
`))(t)
	compiler := ast.NewCompiler()
	if compiler.Compile(map[string]*ast.Module{"authz.rego": module}); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	rows := question.KeyRows(compiler, "data.authz.decision")
	key := func(q resources.Question) []byte {
		return question.AppendKey(nil, &q, rows[q.Principal.Kind])
	}
	user := key(resources.Question{
		Principal: resources.Principal{Kind: resources.PrincipalUser}, Action: resources.Action{Scope: resources.PrincipalService},
	})
	service := key(resources.Question{Principal: resources.Principal{Kind: resources.PrincipalService, ID: resources.PrincipalUser}})
	if bytes.Equal(user, service) {
		t.Errorf("both have the key %q", user)
	}
}

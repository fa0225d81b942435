package engine

import (
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// input returns the input of the policy (policies/schemas/input). Every key is there: one that is missing would make
// a `not` true.
func input(in *reuse.Inputs, about *subjectForm) *ast.Term {
	account := about.account
	if named := in.Text(reuse.AccountNamed); named != "" {
		account = accountTerm(named, false, "")
	}
	return ast.ObjectTerm(
		field("action", actionTerm(in)), field("now", millis(in.Now)), field("principal", principalTerm(in)),
		field("route", routeTerm(in)), field("account", account), field("subject", about.subjectAt(in.Place())),
		field("grant", grantTerm(in)), field("target", targetTerm(in)),
	)
}

// actionTerm returns input.action: the action, its parts, and the patterns that grant it.
func actionTerm(in *reuse.Inputs) *ast.Term {
	a := resources.Action{
		ID: in.Text(reuse.ActionID), Scope: in.Text(reuse.ActionScope),
		Resource: in.Text(reuse.ActionResource), Verb: in.Text(reuse.ActionVerb),
	}
	var patterns []string
	if a.ID != "" {
		all := a.Patterns()
		patterns = all[:]
	}
	return ast.ObjectTerm(
		text("id", a.ID), text("scope", a.Scope), text("resource", a.Resource), text("verb", a.Verb), field("patterns", list(patterns)),
	)
}

func principalTerm(in *reuse.Inputs) *ast.Term {
	return ast.ObjectTerm(
		text("kind", in.Text(reuse.PrincipalKind)), text("id", in.Text(reuse.PrincipalID)), text("uuid", in.Text(reuse.PrincipalUUID)),
		text("account", in.Text(reuse.PrincipalAccount)), field("scopes", set(in.List(reuse.PrincipalScopes))),
		text("credential", in.Text(reuse.PrincipalCredential)), field("key_scopes", set(in.List(reuse.PrincipalKeyScopes))),
	)
}

func routeTerm(in *reuse.Inputs) *ast.Term {
	return ast.ObjectTerm(
		text("name", in.Text(reuse.RouteName)), field("access", set(in.List(reuse.RouteAccess))), text("effect", in.Text(reuse.RouteEffect)),
	)
}

func targetTerm(in *reuse.Inputs) *ast.Term {
	return ast.ObjectTerm(
		text("account", in.Text(reuse.TargetAccount)), text("project", in.Text(reuse.TargetProject)),
		text("project_state", in.Text(reuse.TargetProjectState)), text("resource", in.Text(reuse.TargetResource)),
		text("rest", in.Text(reuse.TargetRest)), text("user", in.Text(reuse.TargetUser)),
	)
}

func grantTerm(in *reuse.Inputs) *ast.Term {
	if len(in.List(reuse.GrantPermissions)) == 0 && in.Until == 0 {
		return noGrant()
	}
	return grantOf(in.List(reuse.GrantPermissions), in.Until)
}

// noGrant is that of every question.
var noGrant = sync.OnceValue(func() *ast.Term {
	none := grantOf(nil, 0)
	settle(none.Value)
	return none
})

func grantOf(permissions []string, until resources.Time) *ast.Term {
	return ast.ObjectTerm(field("permissions", set(permissions)), end("until", until))
}

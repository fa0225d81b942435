package compare_test

import (
	"strings"

	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// added returns changes that add a rule to a tree.
func added(tree policytest.Tree) (out []mutant) {
	for name, rule := range map[string]string{
		"no deleting":           `deny contains "no deleting" if input.action.verb == "delete"`,
		"no keys":               `deny contains "no keys" if input.principal.credential == "key"`,
		"nothing on a resource": `deny contains "no resources" if input.target.resource != ""`,
		"nobody named":          `deny contains "not them" if input.subject.id == "user-mallory-v1"`,
		"no services":           `deny contains "no services" if input.principal.kind == "service"`,
		"one role only":         `deny contains "not both" if { some a in input.subject.here; a.role == "account_reader"; some b in input.subject.here; b.role == "project_admin" }`,
		"an inactive one":       `deny contains "one is inactive" if { some a in input.subject.here; a.status != "ACTIVE" }`,
		"no ends":               `deny contains "for ever" if { some a in input.subject.here; a.expires == 253402300799999 }`,
		"no admins":             `deny contains "no admins" if { some a in input.subject.here; a.role == "account_admin" }`,
		"by the time":           `deny contains "too early" if input.now < 1000000`,
		"an unknown action":     `deny contains "unheard" if input.action.resource == "thing"`,
		"another project":       `deny contains "not there" if input.target.project == "proj-a-v1"`,
		"one user more":         `credential_allows(_) if input.principal.id == "user-mallory-v1"`,
		"a role without end":    `met contains "needs_active_member" if input.subject.id == "user-mallory-v1"`,
		"any account":           `met contains "needs_same_account"`,
		"any project":           `met contains "needs_active_project" if input.target.project_state == "deleting"`,
		"suspended, by key":     `met contains "needs_active_account" if input.principal.credential == "key"`,
		"a sixth condition":     `met contains "needs_a_sixth" if true`,
		"a service's way":       `_open_to_services if input.principal.scopes["authz:check"]`,
		"a service's other way": `_open_to_services if input.principal.scopes["clusters:provision"]`,
	} {
		out = append(out, mutant{"rule added", name, tree.With("authz/more.rego", "package authz\n\n"+rule+"\n")})
	}
	return append(out,
		mutant{"strict", "unknown actions are denied", tree.With("actions/data.json", `{"strict": true, "known": {}}`)},
		mutant{"strict", "one is listed", tree.With("actions/data.json", `{"strict": true, "known": {"project:thing:delete": {}}}`)},
	)
}

// refactorings returns changes that keep all answers.
func refactorings(tree policytest.Tree) (out []mutant) {
	edit := func(kind, file, old, replacement string) {
		text := string(tree[file].Data)
		if !strings.Contains(text, old) {
			panic(kind + ": " + file + " lacks " + old)
		}
		out = append(out, mutant{"refactoring", kind + ": " + file, tree.With(file, strings.ReplaceAll(text, old, replacement))})
	}
	put := func(kind, file, text string) { out = append(out, mutant{"refactoring", kind, tree.With(file, text)}) }
	all := func(kind, old, replacement string) {
		next := tree
		for name := range tree {
			if strings.HasPrefix(name, "authz/") && !strings.HasSuffix(name, "_test.rego") {
				next = next.With(name, strings.ReplaceAll(string(tree[name].Data), old, replacement))
			}
		}
		out = append(out, mutant{"refactoring", kind, next})
	}
	const roles, reasons, grantable, self, service, conditions = "authz/roles.rego", "authz/reasons.rego", "authz/grantable.rego", "authz/self_service.rego", "authz/service.rego", "authz/conditions.rego"
	all("a rule renamed", "_about_the_caller", "_about_who_calls")
	all("a rule renamed that others rest on", "preconditions_met", "all_conditions_hold")
	all("a function renamed", "credential_allows", "credential_suffices_for")
	all("a set renamed", "unmet", "not_met")
	all("a set renamed that has parts", "refusals", "objections")
	all("a helper made public", "_key_scopes", "key_scopes_by_verb")
	edit("a variable renamed", roles, "assignment", "held")
	edit("a variable renamed", grantable, "wider", "general")
	edit("a parameter renamed", reasons, "values", "said")
	edit("a parameter renamed", "authz/credential.rego", "verb", "word")
	edit("a body reordered", conditions, "\tinput.subject.exists\n\tinput.subject.status == \"ACTIVE\"\n", "\tinput.subject.status == \"ACTIVE\"\n\tinput.subject.exists\n")
	edit("a body reordered", roles, "\tassignment.status == \"ACTIVE\"\n\tassignment.role_status == \"ACTIVE\"\n", "\tassignment.role_status == \"ACTIVE\"\n\tassignment.status == \"ACTIVE\"\n")
	edit("a body reordered", self, "\tinput.principal.kind == \"user\"\n\tinput.target.about in {\"caller\", \"caller_by_uuid\"}\n", "\tinput.target.about in {\"caller\", \"caller_by_uuid\"}\n\tinput.principal.kind == \"user\"\n")
	edit("operands turned", conditions, "input.account.status == \"ACTIVE\"", "\"ACTIVE\" == input.account.status")
	edit("a helper split off", conditions, "met contains \"needs_account_level\" if input.target.level == \"account\"", "met contains \"needs_account_level\" if _no_project\n\n_no_project if input.target.level == \"account\"")
	edit("a helper split off", service, "\tinput.principal.kind == \"service\"\n", "\t_is_service\n")
	out[len(out)-1].tree = out[len(out)-1].tree.With("authz/more.rego", "package authz\n\n_is_service if input.principal.kind == \"service\"\n")
	edit("a helper split off", roles, "if input.action.id != \"\"\n", "if _has_action\n")
	out[len(out)-1].tree = out[len(out)-1].tree.With("authz/more.rego", "package authz\n\n_has_action if input.action.id != \"\"\n")
	edit("a helper put in", "authz/access.rego", "\tcaller_is_subject\n\tdecision.allow\n", "\tinput.principal.kind == \"user\"\n\tinput.subject.is_caller\n\tdecision.allow\n")
	edit("rules merged", conditions, "met contains \"needs_account_level\" if input.action.scope != \"account\"\n\nmet contains \"needs_account_level\" if input.target.level == \"account\"\n", "met contains \"needs_account_level\" if _level\n\n_level if input.action.scope != \"account\"\n\n_level if input.target.level == \"account\"\n")
	edit("a comprehension for a set", conditions, "unmet := condition_codes - met", "unmet := {code | some code in condition_codes; not code in met}")
	edit("a set for a comprehension", grantable, "_held_in_project := {pattern | some [_, pattern] in _held}", "_held_in_project contains pattern if some [_, pattern] in _held")
	edit("a rule for every", "authz/credential.rego", "\tevery scope in object.get(_key_scopes, verb, {\"write\"}) {\n\t\tinput.principal.key_scopes[scope]\n\t}\n", "\tlacking := {scope | some scope in object.get(_key_scopes, verb, {\"write\"}); not input.principal.key_scopes[scope]}\n\tcount(lacking) == 0\n")
	edit("not twice", conditions, "\tinput.subject.member\n", "\tnot input.subject.member == false\n")
	edit("a condition twice", conditions, "\tinput.subject.exists\n", "\tinput.subject.exists\n\tinput.subject.exists\n")
	edit("a condition that always holds", roles, "\tassignment.running == true\n", "\tassignment.running == true\n\tis_boolean(assignment.running)\n")
	edit("a constant rule", conditions, "input.account.status == \"ACTIVE\"", "input.account.status == _active\n\n_active := \"ACTIVE\"")
	edit("a text elsewhere", reasons, "reason_texts[\"public\"] := \"the route is public\"", "reason_texts[\"public\"] := _public_text")
	out[len(out)-1].tree = out[len(out)-1].tree.With("authz/more.rego", "package authz\n\n_public_text := \"the route is public\"\n")
	edit("a list reordered", reasons, "reason_texts[\"self\"] := \"this is the caller's own\"\n\nreason_texts[\"self_by_token\"] := \"this is the caller's own, by token\"\n", "reason_texts[\"self_by_token\"] := \"this is the caller's own, by token\"\n\nreason_texts[\"self\"] := \"this is the caller's own\"\n")
	edit("comments", conditions, "# METADATA", "# Another word.\n\n# METADATA")
	edit("formatting", conditions, " == ", "   ==   ")
	put("an unused rule", "authz/more.rego", "package authz\n\nnobody_asks if input.action.verb == \"delete\"\n")
	put("an unused function", "authz/more.rego", "package authz\n\nnobody_calls(x) := y if y := x + 1\n")
	put("an unused package", "other/other.rego", "package other\n\nallow if input.principal.kind == \"none\"\n")
	put("data nobody reads", "other/data.json", `{"on": true}`)
	put("a test more", "authz/more_test.rego", "package authz_test\n\nimport data.authz\n\ntest_more if not authz.decision.allow with input as {}\n")
	put("a deny rule that can't fire", "authz/more.rego", "package authz\n\ndeny contains \"never\" if { input.subject.exists; not input.subject.exists }\n")
	for _, rule := range []string{self, service, conditions} {
		moved := tree.Without(rule).With("authz/moved.rego", string(tree[rule].Data))
		out = append(out, mutant{"refactoring", "moved to another file: " + rule, moved})
	}
	return append(out, reordered(tree, "grants/data.json"), reordered(tree, "routes/data.json"))
}

// reordered returns a mutant with the rows of a document sorted by name.
func reordered(tree policytest.Tree, file string) mutant {
	same := ofFile(tree, file, func(rows) []change { return []change{{"refactoring", "reordered", func(rows) {}}} })
	return same[0]
}

//go:build !race

package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// namedEdit lets somebody in. Each was once hidden from a comparison.
type namedEdit struct {
	name   string
	pieces []policytest.Piece
}

// rule is a rule of the new tree alone, gone one of the old tree alone, kept one of both.
func rule(text string) policytest.Piece {
	return policytest.Piece{File: "authz/own.rego", New: "package authz\n\n" + text + "\n"}
}

func gone(text string) policytest.Piece {
	return policytest.Piece{File: "authz/own.rego", Old: "package authz\n\n" + text + "\n"}
}

func changed(old, next string) policytest.Piece {
	return policytest.Piece{File: "authz/own.rego", Old: "package authz\n\n" + old + "\n", New: "package authz\n\n" + next + "\n"}
}

func kept(text string) policytest.Piece { return changed(text, text) }

func data(old, next string) policytest.Piece {
	return policytest.Piece{File: "freeze/data.json", Old: old + "\n", New: next + "\n"}
}

func row(name, old, next string) policytest.Piece {
	return policytest.Piece{File: "routes/data.json", At: name, Old: old, New: next}
}

func namedEdits() []namedEdit {
	const projectDelete, roleCreate = `"action": "account:project:delete"`, `"action": "account:role:create"`
	const deleteAt = `"/api/v1/accounts/{accountId}/projects/{projectId}", ` + projectDelete
	const listAt = `"/api/v1/accounts/{accountId:acct}/projects/{projectId:proj}/security-groups", "action": "project:security_group:read"`
	const createAt = `"/api/v1/accounts/{accountId}/roles", ` + roleCreate
	moved := func(entry, segment, text string) policytest.Piece {
		return row(entry, entry, strings.Replace(entry, segment, text, 1))
	}
	member := func(condition string) policytest.Piece {
		return rule("member_allowed if {\n\tcaller_is_subject\n\t" + condition + "\n}")
	}
	denied := func(condition string) policytest.Piece {
		return gone("deny contains \"no\" if {\n\tinput.action.id != \"\"\n\t" + condition + "\n}")
	}
	name := "input.route.name"
	return []namedEdit{
		{"a row's action becomes another that the same roles grant", []policytest.Piece{moved(deleteAt, "project:delete", "project:update")}},
		{"the actions of two rows are exchanged", []policytest.Piece{moved(deleteAt, projectDelete, roleCreate), moved(createAt, roleCreate, projectDelete)}},
		{"a row is moved to another action", []policytest.Piece{row(`"project.delete"`, `"project.delete"`, `"project.drop"`), moved(deleteAt, "project:delete", "user:delete")}},
		{"a number in data", []policytest.Piece{kept("deny contains \"frozen\" if {\n\tinput.action.id != \"\"\n\tinput.now < data.freeze.until\n}"), data(`{"until": 1767225601000}`, `{"until": 1767225600000}`)}},
		{"a number in data that is not an integer", []policytest.Piece{kept("deny contains \"frozen\" if {\n\tinput.action.id != \"\"\n\tinput.now < data.freeze.until\n}"), data(`{"until": 1767225600000.5}`, `{"until": 1.7672256e12}`)}},
		{"a number in data that is added to", []policytest.Piece{kept("deny contains \"frozen\" if {\n\tinput.action.id != \"\"\n\tinput.now < data.freeze.from + 1000\n}"), data(`{"from": 1767225600000}`, `{"from": 1767225599000}`)}},
		{"a time that is not an integer", []policytest.Piece{changed("deny contains \"frozen\" if {\n\tinput.action.id != \"\"\n\tinput.now <= 1767225600000.5\n}", "deny contains \"frozen\" if {\n\tinput.action.id != \"\"\n\tinput.now <= 1767225599999.5\n}")}},
		{"a time with an exponent", []policytest.Piece{member("input.now > 1.7672256e12")}},
		{"startswith", []policytest.Piece{member("startswith(" + name + ", \"role.\")")}},
		{"endswith", []policytest.Piece{member("endswith(" + name + ", \".list\")")}},
		{"concat", []policytest.Piece{member("concat(\":\", [" + name + ", \"x\"]) == \"role.create:x\"")}},
		{"sprintf", []policytest.Piece{member("sprintf(\"%s!\", [" + name + "]) == \"role.create!\"")}},
		{"count", []policytest.Piece{member("count(" + name + ") == 11")}},
		{"regex", []policytest.Piece{member("regex.match(`^role\\.c`, " + name + ")")}},
		{"split", []policytest.Piece{member("split(" + name + ", \".\")[0] == \"role\"")}},
		{"some in a part", []policytest.Piece{denied("some x in input.target\n\tx == \"instances/i-7\"")}},
		{"a member by a variable key", []policytest.Piece{denied("some key in {\"id\", \"status\"}\n\tinput.subject[key] == \"user-mallory-v1\"")}},
		{"a member by a key of data", []policytest.Piece{kept("deny contains \"no\" if {\n\tinput.action.id != \"\"\n\tinput.subject[data.freeze.key] == \"user-mallory-v1\"\n}"), data(`{"key": "id"}`, `{"key": "status"}`)}},
		{"a resource and another path below", []policytest.Piece{denied("input.target.resource == \"instances/i-7\"\n\tinput.target.rest != \"instances/i-7\"\n\tinput.target.rest != \"instances/i-7/disks\"")}},
		{"a path that is the user", []policytest.Piece{denied("input.target.rest == input.subject.id")}},
		{"a project that is the account", []policytest.Piece{denied("input.target.project == input.account.id")}},
		{"a custom role with two permissions", []policytest.Piece{denied("some a in input.subject.here\n\ta.custom\n\ta.permissions[\"account:user:read\"]\n\ta.permissions[\"project:*:*\"]")}},
		{"a number of permissions", []policytest.Piece{denied("some a in input.subject.here\n\ta.custom\n\tcount(a.permissions) > 2")}},
		{"three assignments", []policytest.Piece{denied("count(input.subject.here) > 2")}},
		{"a service's scope", []policytest.Piece{rule("service_scope := \"reports:read\" if {\n\tinput.principal.kind == \"service\"\n\tinput.principal.scopes[\"reports:read\"]\n}")}},
		{"two of a service's scopes", []policytest.Piece{rule("_sufficient contains \"two\" if {\n\tinput.principal.kind == \"service\"\n\tcount(input.principal.scopes) == 2\n}")}},
		{"object.get", []policytest.Piece{denied("object.get(input.target, \"rest\", \"\") == \"instances/i-7\"")}},
		{"the effect of the route at decision", []policytest.Piece{rule("granting_roles contains \"odd\" if input.route.effect == \"read\"")}},
		{"the name of the route at decision", []policytest.Piece{rule("granting_roles contains \"odd\" if input.route.name == \"authorization.check\"")}},
		{"a set of printed texts", []policytest.Piece{denied("\"proj-demo-v1/instances/i-7\" in _places"), {File: "authz/places.rego", Old: "package authz\n\n_places contains sprintf(\"%s/%s\", [input.target.project, input.target.rest])\n", New: "package authz\n\n_places contains sprintf(\"%s/%s\", [input.target.project, input.target.rest])\n"}}},
		{"a list of printed texts", []policytest.Piece{denied("places := [sprintf(\"%s/%s\", [p, input.target.rest]) | some p in [input.target.project, input.account.id]]\n\t\"proj-demo-v1/instances/i-7\" in places")}},
		{"a text by another", []policytest.Piece{kept("deny contains \"no\" if {\n\tinput.action.id != \"\"\n\tdata.freeze.owners[input.target.resource] != input.subject.id\n}"), data(`{"owners": {"instances/i-7": "user-mallory-v1"}}`, `{"owners": {"instances/i-7": "user-bob-v1"}}`)}},
		{"the smallest of constants", []policytest.Piece{denied("min({input.target.kind, \"instances\"}) == \"instances\"\n\tinput.target.kind != \"\"")}},
		{"order among texts", []policytest.Piece{denied("input.target.project > input.subject.id")}},
		{"the caller's own account", []policytest.Piece{denied("input.principal.kind == \"user\"\n\tinput.subject.is_caller == false\n\tinput.principal.account == \"acct-evil-v1\"")}},
		{"a path below, but for some", []policytest.Piece{denied("startswith(input.target.rest, \"closed/\")\n\tnot input.target.rest in {\"closed/~\", \"closed/~/x\"}")}},
		{"a project by its beginning, but for one", []policytest.Piece{denied("startswith(input.target.project, \"proj-x\")\n\tinput.target.project != \"proj-x~\"")}},
		{"any account but one that stands for any", []policytest.Piece{denied("input.account.named\n\tinput.account.id != \"acct-any-v0\"")}},
		{"any project but one that stands for any", []policytest.Piece{denied("input.target.project != \"proj-any-v0\"\n\tinput.target.project != \"\"")}},
		{"any user but one that stands for any", []policytest.Piece{denied("input.subject.named\n\tinput.subject.id != \"user-any-v0\"")}},
		{"any scope but one that stands for any", []policytest.Piece{rule("_sufficient contains \"odd\" if {\n\tinput.principal.kind == \"service\"\n\tsome scope, _ in input.principal.scopes\n\tnot scope in {\"any:scope\", \"authz:check\", \"authz:explain\", \"platform:admin\", \"users:sync\", \"clusters:provision\"}\n}")}},
		{"the level of any project but one", []policytest.Piece{denied("not input.target.project == \"proj-x\"\n\tinput.target.level == \"project\"")}},
		{"whom a path is about, and not one user", []policytest.Piece{denied("not input.target.user == \"user-x\"\n\tinput.target.about == \"caller\"")}},
		{"an action by its beginning", []policytest.Piece{denied("startswith(input.action.id, \"project:zz\")")}},
		{"a resource of an action by its beginning", []policytest.Piece{denied("startswith(input.action.resource, \"zz\")")}},
		{"a verb but for some", []policytest.Piece{denied("input.action.resource == \"widget\"\n\tnot input.action.verb in {\"sway\", \"read\", \"create\", \"delete\", \"update\", \"list\", \"check\", \"invite\"}")}},
		{"a role by its beginning", []policytest.Piece{denied("some a in input.subject.here\n\ta.custom\n\tstartswith(a.role, \"role-zz\")")}},
		{"any role but one that stands for any", []policytest.Piece{denied("some a in input.subject.here\n\ta.custom\n\ta.role != \"role-any-v0\"")}},
		{"two roles", []policytest.Piece{denied("some a in input.subject.here\n\ta.role == \"account_admin\"\n\tsome b in input.subject.here\n\tb.role == \"team_member\"")}},
		{"a role without another", []policytest.Piece{denied("some a in input.subject.here\n\ta.role == \"account_reader\"\n\tnot _team"), {File: "authz/team.rego", Old: "package authz\n\n_team if {\n\tsome a in input.subject.here\n\ta.role == \"team_member\"\n}\n", New: "package authz\n\n_team if {\n\tsome a in input.subject.here\n\ta.role == \"team_member\"\n}\n"}}},
		{"two of one role", []policytest.Piece{denied("count([1 | some a in input.subject.here; a.role == \"account_admin\"]) == 2")}},
		{"all roles", []policytest.Piece{denied("count(input.subject.here) > 0\n\tevery a in input.subject.here { a.role == \"account_admin\" }")}},
		{"the hour", []policytest.Piece{denied("input.clock.hour == 5\n\tinput.clock.weekday == \"Thursday\"")}},
		{"the hour and the time", []policytest.Piece{denied("input.clock.hour == 5\n\tinput.now > 1767225700000")}},
		{"the end of a grant", []policytest.Piece{gone("deny contains \"no\" if {\n\tinput.grant.until < 1767225601000\n\tinput.grant.until > 0\n}")}},
		{"the sorted texts of a list", []policytest.Piece{denied("[x | some x in ({input.target.rest} | {\"m\"})][0] == \"m\"\n\tinput.target.rest != \"m\"")}},
		{"a name that is given twice", []policytest.Piece{denied("some w in {input.target.rest: 1, \"m\": 2}\n\tw == 1")}},
		{"a user by its number", []policytest.Piece{denied("input.principal.uuid == \"u-17\"")}},
		{"a permission of a grant", []policytest.Piece{gone("deny contains \"no\" if input.grant.permissions[\"project:widget:read\"]")}},
		{"three permissions of a grant", []policytest.Piece{gone("deny contains \"no\" if {\n\tinput.grant.permissions[\"project:a:read\"]\n\tinput.grant.permissions[\"project:b:read\"]\n\tinput.grant.permissions[\"project:c:read\"]\n}")}},
		{"a row that a proxy names", []policytest.Piece{member("input.route.name == \"external.named\"")}},
		{"a status that nothing has", []policytest.Piece{denied("some a in input.subject.here\n\ta.status == \"\"")}},
		{"a role and a resource that no tree lists", []policytest.Piece{denied("input.action.resource == \"widget\"\n\tsome a in input.subject.here\n\ta.role == \"account_reader\"")}},
		{"a rule of both trees about two permissions of a grant", []policytest.Piece{
			kept("_both if {\n\tinput.grant.permissions[\"project:a:read\"]\n\tinput.grant.permissions[\"project:b:read\"]\n}"),
			{File: "authz/both.rego", Old: "package authz\n\ndeny contains \"no\" if _both\n"},
		}},
		{"an agent that a service names", []policytest.Piece{denied("input.agent.named\n\tinput.principal.kind == \"service\"")}},
		{"an agent that a service with a scope names", []policytest.Piece{denied("input.agent.named\n\tinput.principal.scopes[\"users:sync\"]")}},
		{"an agent without a user", []policytest.Piece{denied("input.principal.kind == \"agent\"")}},
		{"an agent of a user with a key", []policytest.Piece{denied("input.agent.named\n\tinput.principal.credential == \"key\"")}},
		{"a moved row beside a rule that reads too much", []policytest.Piece{
			kept("self_allowed if {\n\tinput.principal.kind == \"service\"\n\twhole := input\n\tnot \"public\" in object.keys(whole.route.access)\n}"),
			moved(listAt, "/api", "/moved/api"),
		}},
		{"a with", []policytest.Piece{rule("granting_roles contains \"odd\" if caller_is_subject with input.subject.is_caller as true")}},
	}
}

// TestNamedEditsAreToldOf holds changes that a comparison has hidden: each is a row now, or a gap, and guards refuse it.
func TestNamedEditsAreToldOf(t *testing.T) {
	tier.Check(t)
	base := policytest.Few(t, policies.Tree()).With("guards/guards.rego", policytest.Guard).With("authz/functions.rego", "package authz\n")
	for _, named := range namedEdits() {
		t.Run(strings.ReplaceAll(named.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			p, problem := compile(t.Context(), t, &policytest.Edit{Base: base, Pieces: named.pieces})
			if problem != nil {
				t.Fatal(problem)
			}
			var seen []witness
			for i := uint64(0); i < 300 && len(seen) == 0; i++ {
				more := p.witnesses(t.Context(), policytest.NewRandom(1, i), 100)
				seen = append(seen, slices.DeleteFunc(more, func(w witness) bool { return !w.gained })...)
			}
			if len(seen) == 0 {
				t.Fatal("nobody is let in")
			}
			switch hides, gapped, err := p.hidden(t.Context(), seen); {
			case hides != nil:
				t.Errorf("hidden: %v\n%s%s", err, p.Edit, hides)
			case err != nil:
				t.Error(err)
			default:
				t.Logf("by a gap: %t", gapped)
			}
		})
	}
}

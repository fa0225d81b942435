package authz_test

import data.authz

# Questions that are allowed. A case changes one field of one of them.
questions_in_order := {
	"in a project": question("project:instance:read", admin),
	"at account level": question("account:role:read", both(account_level, admin)),
	"whose path names no account": question("project:instance:read", both({"target": {"account": ""}}, admin)),
	"by a key": question("project:instance:read", both(admin, key({"read"}))),
	"by an agent": question("project:instance:read", both(admin, by_agent)),
	"of a service": question("project:instance:read", both(
		admin,
		{"principal": {"kind": "service", "id": "service-x", "uuid": "", "account": ""}},
	)),
}

by_agent := {"agent": {"named": true, "exists": true, "status": "ACTIVE", "delegation_covers": true}}

# The values that a field can have: those that rules name, one that none of them names, and the
# empty one. The action and the target are changed as a whole, since the engine makes each of them
# in one piece.
field_values := {
	"/action": [action("account:user:read"), action("project:disk:create"), action("resource:disk:list")],
	"/principal/kind": ["service", "none", "agent", "robot", ""],
	"/principal/id": ["user-alice-v1", ""],
	"/principal/credential": ["token", "key", "none", "cookie"],
	"/principal/key_scopes": [{}, {"read": true}, {"write": true}, {"read": false}],
	"/principal/scopes": [{"authz:check": true}, {"platform:admin": true}],
	"/route": [{"name": "role_assignment.list_of_user", "access": {"self": true}, "effect": "write"}],
	"/account": [{"id": "", "exists": false, "status": ""}, {"id": "acct-other-v1", "exists": false, "status": ""}],
	"/account/id": ["acct-other-v1", ""],
	"/account/exists": [false],
	"/account/status": ["SUSPENDED", "active", ""],
	"/subject/id": ["user-alice-v1", ""],
	"/subject/exists": [false],
	"/subject/status": ["INACTIVE", "active", ""],
	"/subject/member": [false],
	"/agent/named": [true],
	"/agent/exists": [false],
	"/agent/status": ["SUSPENDED", "active", ""],
	"/agent/delegation_covers": [false],
	"/target": [target |
		some account in ["acct-demo-v1", "acct-other-v1", ""]
		some [project, state] in [["", ""], ["proj-demo-v1", "active"], ["proj-demo-v1", "deleting"], ["proj-demo-v1", "absent"]]
		target := {
			"account": account, "project": project, "project_state": state,
			"resource": "", "rest": "", "user": "",
		}
	],
	"/target/user": ["user-bob-v1", "user-alice-v1"],
	"/grant": [{"permissions": {"project:*:*": true}, "until": 1}],
}

# A field that is missing, in whatever part but the action.
missing_fields := [
	"/principal", "/principal/credential",
	"/account", "/account/id", "/account/exists", "/account/status",
	"/subject", "/subject/id", "/subject/exists", "/subject/status", "/subject/member",
	"/target", "/target/account",
	"/agent", "/agent/named", "/agent/exists", "/agent/status", "/agent/delegation_covers",
]

changes[name] := {"op": "replace", "path": path, "value": value} if {
	some path, values in field_values
	some value in values
	name := sprintf("%s is %s", [path, json.marshal(value)])
}

changes[name] := {"op": "remove", "path": path} if {
	some path in missing_fields
	name := sprintf("%s is missing", [path])
}

test_questions_in_order_are_allowed[note] if {
	some note, asked in questions_in_order
	authz.decision.allow with input as asked
}

# The admin's role grants every action: what is left are the conditions.
agree(asked, patch) if {
	changed := json.patch(asked, [patch])
	seen := {
		"allowed": {true | authz.decision.allow},
		"met": {true | authz.preconditions_met},
		"unopposed": {true | count(authz.refusals) == 0},
	} with input as changed
	seen.allowed == seen.met
	seen.allowed == seen.unopposed
}

# A test for each question, since `opa test` gives each test five seconds.
test_allowed_is_what_nothing_speaks_against_in_a_project[change] if {
	some change, patch in changes
	agree(questions_in_order["in a project"], patch)
}

test_allowed_is_what_nothing_speaks_against_at_account_level[change] if {
	some change, patch in changes
	agree(questions_in_order["at account level"], patch)
}

test_allowed_is_what_nothing_speaks_against_without_an_account[change] if {
	some change, patch in changes
	agree(questions_in_order["whose path names no account"], patch)
}

test_allowed_is_what_nothing_speaks_against_by_a_key[change] if {
	some change, patch in changes
	agree(questions_in_order["by a key"], patch)
}

test_allowed_is_what_nothing_speaks_against_by_an_agent[change] if {
	some change, patch in changes
	agree(questions_in_order["by an agent"], patch)
}

test_allowed_is_what_nothing_speaks_against_of_a_service[change] if {
	some change, patch in changes
	agree(questions_in_order["of a service"], patch)
}

# The least that lets a condition alone not hold.
test_each_condition_has_its_reason[code] if {
	some code in authz.condition_codes
	without := {
		"needs_active_member": {"subject": {"member": false}},
		"needs_active_account": {"account": {"status": "SUSPENDED"}},
		"needs_same_account": {"target": {"account": "acct-other-v1"}},
		"needs_account_level": {"action": action("account:role:read")},
		"needs_active_project": {"target": {"project_state": "absent"}},
		"needs_credential_scope": key({"write"}),
		"needs_registered_agent": both(by_agent, {"agent": {"exists": false}}),
		"needs_active_agent": both(by_agent, {"agent": {"status": "SUSPENDED"}}),
		"needs_delegation": both(by_agent, {"agent": {"delegation_covers": false}}),
	}[code]
	asked := question("project:instance:read", both(admin, without))
	conditions := authz.conditions with input as asked
	{other | some other, condition in conditions; condition.holds} == authz.condition_codes - {code}
	result := authz.decision with input as asked
	result == {"allow": false, "code": code, "reason": conditions[code].says}
}

# Where a condition does not hold, and where no rule says how to meet it, nothing that rests on the
# account's facts is allowed.
test_every_entry_point_asks_for_every_condition[note][code] if {
	codes := authz.condition_codes
	some code in (codes | {"needs_something_new"})
	some note, [entry, asked] in {
		"decision": ["decision", question("project:instance:read", admin)],
		"access by a role": ["access", question("project:instance:read", both(admin, route(set(), "read")))],
		"access as oneself": ["access", input_of([base, about("user-bob-v1"), route({"self"}, "read")])],
		"access as oneself, by token": ["access", input_of([base, about("user-bob-v1"), route({"self_by_token"}, "read")])],
		"access of a member": ["access", input_of([base, route({"member"}, "read")])],
		"grantable": ["grantable", giving({"project:x:read"}, never, admin)],
	}
	allowed := authz[entry].allow with input as asked
	allowed == true
	denied := authz[entry].allow with input as asked with data.authz.condition_codes as codes | {code} with data.authz.met as codes - {code}
	denied == false
}

test_state_without_a_project_denies[state] if {
	some state in ["active", "deleting", "absent"]
	result := authz.decision with input as question(
		"project:instance:read",
		object.union_n([account_level, admin, {"target": {"project_state": state}}]),
	)
	says(result, false, "needs_active_project")
}

# A `met` rule for what is no condition is a slip of its author: it lets nothing in.
test_stray_condition_denies if {
	stray := authz.met | {"needs_something_else"} with input as question("project:instance:read", admin)
	not authz.decision.allow with input as question("project:instance:read", admin) with data.authz.met as stray
}

# A deny rule of an author's own is no field of the input.
test_deny_rule_is_a_refusal[note] if {
	some note, asked in questions_in_order
	refusals := authz.refusals with input as asked with data.authz.deny as {"a reason of one's own"}
	refusals == {["a reason of one's own", "deny_rule"]}
	every deny in [{"a reason of one's own"}, {""}, true, false, {"a": "b"}] {
		denied := authz.decision.allow with input as asked with data.authz.deny as deny
		denied == false
	}
}

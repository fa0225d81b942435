package authz_test

import data.authz

# Questions that are in order, and that the role below answers with yes. A case changes one field of one of them.
in_order_questions := {
	"in a project": question("project:instance:read", admin),
	"at account level": question("account:role:read", both(account_level, admin)),
	"whose path names no account": question("project:instance:read", both({"target": {"account": ""}}, admin)),
	"by a key": question("project:instance:read", both(admin, key({"read"}))),
	"of a service": question("project:instance:read", both(
		admin,
		{"principal": {"kind": "service", "id": "service-x", "uuid": "", "account": ""}},
	)),
}

# The values that a field can have: those that rules name, one that none of them names, and the empty one. The action
# and the target are changed as a whole, since the engine makes each of them in one piece: no input has an action of an
# unknown scope, or the state of a project without a project.
field_values := {
	"/action": [action("account:user:read"), action("project:disk:create"), action("resource:disk:list")],
	"/principal/kind": ["service", "none", "robot", ""],
	"/principal/id": ["user-alice-v1", ""],
	"/principal/credential": ["token", "key", "none", "cookie"],
	"/principal/key_scopes": [{}, {"read": true}, {"write": true}, {"read": false}],
	"/principal/scopes": [{"authz:check": true}, {"platform:admin": true}],
	"/route": [{"name": "E5", "access": {"self": true}, "effect": "write"}],
	"/account": [{"id": "", "exists": false, "status": ""}, {"id": "acct-other-v1", "exists": false, "status": ""}],
	"/account/id": ["acct-other-v1", ""],
	"/account/exists": [false],
	"/account/status": ["SUSPENDED", "active", ""],
	"/subject/id": ["user-alice-v1", ""],
	"/subject/exists": [false],
	"/subject/status": ["INACTIVE", "active", ""],
	"/subject/member": [false],
	"/subject/assignments": [{}],
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
	some note, asked in in_order_questions
	authz.decision.allow with input as asked
}

# What is not in order is refused for a reason, and what is refused for a reason is not in order.
test_in_order_is_what_nothing_speaks_against[note][change] if {
	some note, asked in in_order_questions
	some change, patch in changes
	changed := json.patch(asked, [patch])
	in_order := {true | authz.in_order} with input as changed
	unopposed := {true | count(authz.refusals) == 0} with input as changed
	in_order == unopposed
}

# A deny rule of an author's own is no field of the input.
test_in_order_is_what_no_deny_rule_speaks_against[note] if {
	some note, asked in in_order_questions
	refusals := authz.refusals with input as asked with data.authz.deny as {"a reason of one's own"}
	refusals == {"a reason of one's own"}
	not authz.in_order with input as asked with data.authz.deny as {"a reason of one's own"}
}

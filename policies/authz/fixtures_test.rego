package authz_test

import data.authz

now := 1767225600000

never := 253402300799999

# The question of which every case says only what is different: bob, a member without roles, asks by himself
# about an instance in a project of his account.
base := {
	"action": no_action,
	"now": now,
	"principal": {
		"kind": "user", "id": "user-bob-v1", "uuid": "uuid-bob", "account": "acct-demo-v1",
		"scopes": {}, "credential": "token", "key_scopes": {},
	},
	"route": {"name": "", "access": {}, "effect": ""},
	"account": {"id": "acct-demo-v1", "exists": true, "status": "ACTIVE"},
	"subject": {
		"id": "user-bob-v1", "exists": true, "status": "ACTIVE", "member": true,
		"assignments": {}, "here": [], "roles": {},
	},
	"target": {
		"account": "acct-demo-v1", "project": "proj-demo-v1", "project_state": "active",
		"resource": "instances/i-1", "rest": "instances/i-1/disks", "user": "",
	},
	"grant": {"permissions": {}, "until": never},
}

no_action := {"id": "", "scope": "", "resource": "", "verb": "", "patterns": []}

action(id) := {"id": id, "scope": scope, "resource": resource, "verb": verb, "patterns": patterns} if {
	[scope, resource, verb] := split(id, ":")
	patterns := [pattern |
		some s in {scope, "*"}
		some r in {resource, "*"}
		some v in {verb, "*"}
		pattern := concat(":", [s, r, v])
	]
}

question(id, difference) := input_of([base, {"action": action(id)}, difference])

# The cases say the assignments as a list of records, each with its project and resource, and the custom roles by their
# permissions; of several parts the last one's list holds. The engine files both like this.
input_of(parts) := object.union(object.remove(whole, ["subject"]), {"subject": object.union(
	object.remove(whole.subject, ["assignments", "here", "roles"]),
	{"assignments": places, "here": here(places, whole.target), "roles": roles},
)}) if {
	whole := object.union_n(parts)
	places := filed(whole.subject.assignments)
	roles := {id: {"scope": role_scope, "permissions": permissions} |
		some id, permissions in whole.subject.roles
		some assignment in whole.subject.assignments
		assignment.role == id
		role_scope := object.get(assignment, "role_scope", "")
	}
}

filed(assignments) := {project: resources |
	some project in {object.get(assignment, "project", "") | some assignment in assignments}
	there := [assignment | some assignment in assignments; object.get(assignment, "project", "") == project]
	resources := {resource: items |
		some resource in {object.get(assignment, "resource", "") | some assignment in there}
		items := [object.union(object.remove(assignment, ["project", "resource"]), {"level": level(project, resource)}) |
			some assignment in there
			object.get(assignment, "resource", "") == resource
		]
	}
}

# Of the places that cover the target, the wider ones first.
here(places, target) := [assignment |
	some at in {[0, "", ""], [1, target.project, ""], [2, target.project, target.resource]}
	covers(at)
	some assignment in object.get(places, [at[1], at[2]], [])
]

covers([0, _, _])

covers([1, project, _]) if project != ""

covers([2, project, resource]) if {
	project != ""
	resource != ""
}

level("", "") := "ACCOUNT"

level(project, "") := "PROJECT" if project != ""

level("", resource) := "" if resource != ""

level(project, resource) := "RESOURCE" if {
	project != ""
	resource != ""
}

held(assignments) := {"subject": {"assignments": assignments}}

custom(permissions, assignment) := {"subject": {
	"assignments": [object.union(assignment, {"role": "role-own-v1", "custom": true})],
	"roles": {"role-own-v1": permissions},
}}

record := {"custom": false, "role_status": "ACTIVE", "status": "ACTIVE", "expires": never, "running": true, "project": "", "resource": ""}

account_role(role) := object.union(record, {"role": role, "role_scope": "ACCOUNT"})

project_role(role) := object.union(record, {"role": role, "role_scope": "PROJECT", "project": "proj-demo-v1"})

resource_role(resource) := object.union(record, {
	"role": "role-own-v1", "custom": true, "role_scope": "RESOURCE",
	"project": "proj-demo-v1", "resource": resource,
})

with_fields(assignment, fields) := object.union(assignment, fields)

account_level := {"target": {"project": "", "project_state": "", "resource": "", "rest": ""}}

key(scopes) := {"principal": {"credential": "key", "key_scopes": {scope: true | some scope in scopes}}}

service(scopes) := {
	"principal": {
		"kind": "service", "id": "service-x", "uuid": "", "account": "",
		"scopes": {scope: true | some scope in scopes},
	},
	"subject": {"id": "", "exists": false, "status": "", "member": false},
}

nobody := {
	"principal": {"kind": "none", "id": "", "uuid": "", "account": "", "credential": "none"},
	"subject": {"id": "", "exists": false, "status": "", "member": false},
}

no_account := {"account": {"id": "", "exists": false, "status": ""}, "target": {"account": ""}}

route(access, effect) := {"route": {"access": {kind: true | some kind in access}, "effect": effect}}

both(a, b) := object.union(a, b)

# An answer is told by its code, or by its reason where the text names something of the question.
says(answer, allow, code) if {
	answer == {"allow": allow, "code": code, "reason": authz.reason_texts[code]}
}

says(answer, allow, reason) if {
	answer == {"allow": allow, "code": answer.code, "reason": reason}
	[start, _] := split(authz.reason_texts[answer.code], "%s")
	startswith(reason, start)
}

says(answer, allow, reason) if {
	answer == {"allow": allow, "code": answer.code, "reason": reason}
	[start, middle, _] := split(authz.reason_texts[answer.code], "%s")
	startswith(reason, start)
	contains(reason, middle)
}

# The fixtures are questions as the engine asks them.
test_fixtures_have_the_form_of_the_schema[note] if {
	some note, fixture in {
		"base": base,
		"action": question("project:instance:read", {}),
		"held": question("project:instance:read", held([account_role("account_admin"), project_role("x")])),
		"custom": question("project:instance:read", custom({"a:b:c": true}, project_role("x"))),
		"resource": question("project:instance:read", held([resource_role("instances/i-1")])),
		"key": question("project:instance:read", both(account_level, key({"read"}))),
		"service": question("project:instance:read", both(service({"authz:check"}), no_account)),
		"nobody": question("project:instance:read", both(nobody, route({"self"}, "read"))),
	}
	[true, []] == json.match_schema(fixture, data.schemas.input)
}

package authz_test

import data.authz

now := 1767225600000

never := 253402300799999

# The question of which every case says only what is different: bob, a member without roles, asks by
# himself about an instance in a project of his account.
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
		"assignments": {}, "roles": {},
	},
	"agent": {"named": false, "exists": false, "status": "", "delegation_covers": false},
	"clock": {"hour": 0, "weekday": "Thursday"},
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

# The cases say the texts, the assignments as a list of records, each with its project and resource,
# and the custom roles by their permissions; of several parts the last one's list holds. The gateway
# makes the columns of them like this.
input_of(parts) := object.union(whole, {
	"account": object.union(whole.account, {"named": whole.account.id != ""}),
	"subject": object.union(
		object.remove(whole.subject, ["assignments", "roles"]),
		{
			"named": whole.subject.id != "", "is_caller": is_caller(whole),
			"assignments": places, "here": here(places, roles, whole), "roles": roles,
		},
	),
	"target": object.union(whole.target, {
		"level": target_level(whole.target), "same_account": whole.target.account in {"", whole.account.id},
		"kind": split(whole.target.rest, "/")[0], "about": stands_to_caller(whole),
	}),
}) if {
	all := object.union_n(parts)
	listed := all.subject.assignments
	whole := object.union(object.remove(all, ["subject"]), {"subject": object.remove(all.subject, ["assignments", "roles"])})
	places := filed(listed)
	roles := {id: {"scope": role_scope, "permissions": permissions} |
		some id, permissions in all.subject.roles
		some assignment in listed
		assignment.role == id
		role_scope := object.get(assignment, "role_scope", "")
	}
}

is_caller(whole) if {
	whole.principal.kind == "user"
	whole.principal.id != ""
	whole.principal.id == whole.subject.id
} else := false

target_level(target) := "account" if {
	target.project == ""
} else := "project" if {
	target.resource == ""
} else := "resource"

stands_to_caller(whole) := "" if {
	whole.target.user == ""
} else := "caller" if {
	whole.principal.kind == "user"
	whole.target.user == whole.principal.id
} else := "caller_by_uuid" if {
	whole.principal.kind == "user"
	whole.target.user == whole.principal.uuid
} else := "other"

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

# Of the places that cover the target.
here(places, roles, whole) := [object.union(object.remove(assignment, ["expires"]), {
	"permissions": permissions, "outlasts_grant": outlasts(assignment, whole.grant.until),
}) |
	some at in {[0, "", ""], [1, whole.target.project, ""], [2, whole.target.project, whole.target.resource]}
	covers(at)
	some assignment in object.get(places, [at[1], at[2]], [])
	permissions := own_permissions(assignment, roles)
]

outlasts(assignment, until) if {
	until > 0
	until <= assignment.expires
} else := false

own_permissions(assignment, _) := {} if not assignment.custom

own_permissions(assignment, roles) := object.get(roles, [assignment.role, "permissions"], {}) if assignment.custom

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

# The fixtures are questions as the engine asks them.
test_fixtures_have_the_form_of_the_schema[note] if {
	some note, fixture in {
		"base": input_of([base]),
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

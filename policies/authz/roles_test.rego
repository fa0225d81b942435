package authz_test

import data.authz

# What each system role grants, and what it does not, where it is assigned.
test_system_roles[note] if {
	expected := {
		"account_admin": {
			"account:role_assignment:delete": true, "project:instance:create": true, "resource:disk:attach": true,
		},
		"account_reader": {
			"account:user:read": true, "project:instance:read": true, "resource:disk:read": false,
			"account:user:update": false, "project:instance:list": false, "project:instance:create": false,
		},
		"team_member": {
			"account:role:read": true, "account:user:read": true, "account:project:read": true,
			"account:api_key:read": false, "account:user:update": false, "project:instance:read": false,
		},
		"project_admin": {
			"project:instance:create": true, "project:instance:read": true,
			"resource:disk:read": false, "account:user:read": false,
		},
		"project_reader": {
			"project:instance:read": true, "project:instance:list": false,
			"project:instance:create": false, "account:user:read": false, "resource:disk:read": false,
		},
	}
	some role, actions in expected
	some id, granted in actions
	note := concat(" ", [role, id])
	role_scope := data.grants[role].scope
	place := {"ACCOUNT": "", "PROJECT": "proj-demo-v1"}[role_scope]
	target := object.get({"account": account_level}, split(id, ":")[0], {})
	assignment := object.union(record, {"role": role, "role_scope": role_scope, "project": place})
	allow := authz.decision.allow with input as question(id, both(target, held([assignment])))
	allow == granted
}

test_system_roles_in_projects[note] if {
	some note, case in {
		"account_admin": ["project:instance:create", account_role("account_admin"), true],
		"account_reader": ["project:instance:read", account_role("account_reader"), true],
		"team_member": ["project:instance:read", account_role("team_member"), false],
		"project_admin": ["project:instance:create", project_role("project_admin"), true],
		"project_admin resource:": ["resource:disk:read", project_role("project_admin"), false],
		"project_reader": ["project:instance:create", project_role("project_reader"), false],
	}
	allow := authz.decision.allow with input as question(case[0], held([case[1]]))
	allow == case[2]
}

test_wildcards_stand_for_one_segment[pattern] if {
	some pattern, granted in {
		"project:instance:read": true,
		"project:instance:*": true,
		"project:*:read": true,
		"*:instance:read": true,
		"*:*:*": true,
		"project:*": false,
		"*": false,
		"": false,
		"project:inst*:read": false,
		"Project:Instance:Read": false,
		"project:*:list": false,
		"resource:*:*": false,
		"project:instance:read ": false,
	}
	allow := authz.decision.allow with input as question("project:instance:read", custom({pattern: true}, project_role("")))
	allow == granted
}

test_custom_roles_stand_apart_from_system_roles[note] if {
	some note, difference in {
		"custom role that is not there": held([with_fields(project_role("role-own-v1"), {"custom": true})]),
		"custom permissions under a system flag": {"subject": {
			"assignments": [project_role("role-own-v1")],
			"roles": {"role-own-v1": {"project:*:*": true}},
		}},
		"custom role with a system role's id": {"subject": {
			"assignments": [with_fields(project_role("project_reader"), {"custom": true})],
			"roles": {"project_reader": {"project:nothing:read": true}},
		}},
		"system role with a custom role's permissions": {"subject": {
			"assignments": [with_fields(project_role("team_member"), {"role_scope": "ACCOUNT", "project": ""})],
			"roles": {"team_member": {"project:*:*": true}},
		}},
		"a permission that is switched off": {"subject": {
			"assignments": [with_fields(project_role("role-own-v1"), {"custom": true})],
			"roles": {"role-own-v1": {"project:instance:read": false}},
		}},
	}
	result := authz.decision with input as question("project:instance:read", difference)
	says(result, false, "no_role")
}

test_role_of_another_scope_than_its_place_grants_nothing[path] if {
	some path in {"/subject/here/0/role_scope", "/subject/here/0/level"}
	asked := question("project:instance:read", custom({"project:*:*": true}, project_role("")))
	authz.decision.allow with input as asked
	every other in ["ACCOUNT", "RESOURCE", ""] {
		changed := json.patch(asked, [{"op": "replace", "path": path, "value": other}])
		not authz.decision.allow with input as changed
	}
}

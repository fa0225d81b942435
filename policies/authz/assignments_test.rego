package authz_test

import data.authz

reader := project_role("project_reader")

allowed(id, difference) if {
	authz.decision.allow with input as question(id, difference)
}

test_assignment_counts[note] if {
	some note, case in {
		"in its project": ["project:instance:read", held([reader])],
		"before its end": ["project:instance:read", held([with_fields(reader, {"expires": now + 1})])],
		"account level covers the projects": ["project:instance:read", held([account_role("account_reader")])],
		"account level covers a project's resources": ["resource:disk:attach", held([account_role("account_admin")])],
		"account level without a project": [
			"project:instance:read",
			both(account_level, held([account_role("account_reader")])),
		],
		"beside one that does not count": ["project:instance:read", held([
			{}, {"role": null}, with_fields(reader, {"status": ""}),
			reader,
		])],
		"a resource role on its resource": ["project:instance:read", both(
			custom({"project:instance:read": true}, {}),
			held([resource_role("instances/i-1")]),
		)],
		"a resource action": ["resource:disk:read", both(
			custom({"resource:disk:read": true}, {}),
			held([resource_role("instances/i-1")]),
		)],
		"a custom project role": ["resource:disk:read", custom({"*:disk:read": true}, project_role(""))],
		"a custom account role": ["account:user:read", both(
			account_level,
			custom({"account:user:*": true}, account_role("")),
		)],
	}
	allowed(case[0], case[1])
}

test_assignment_does_not_count[note] if {
	some note, fields in {
		"inactive": {"status": "INACTIVE"},
		"blank status": {"status": ""},
		"status in other letters": {"status": "active"},
		"status of another type": {"status": true},
		"role inactive": {"role_status": "INACTIVE"},
		"role status blank": {"role_status": ""},
		"ended": {"running": false},
		"ended or not, in a word": {"running": "true"},
		"ended or not, unknown": {"running": null},
		"role unknown": {"role": "project_owner"},
		"role blank": {"role": ""},
		"role scope blank": {"role_scope": ""},
		"role scope unknown": {"role_scope": "GALAXY"},
		"role scope in other letters": {"role_scope": "project"},
		"role scope is not the system role's": {"role_scope": "RESOURCE", "resource": "instances/i-1"},
		"system role under a custom flag": {"custom": true},
		"custom flag of another type": {"custom": ""},
		"another project": {"project": "proj-other-v1"},
		"project role at account level": {"project": ""},
		"account role scope at account level, but a project role": {"project": "", "role_scope": "ACCOUNT"},
		"account role in a project": {"role": "account_admin", "role_scope": "ACCOUNT"},
		"project role on a resource": {"resource": "instances/i-1"},
		"account role on a resource": {
			"role": "account_admin", "role_scope": "ACCOUNT",
			"project": "", "resource": "instances/i-1",
		},
	}
	not allowed("project:instance:read", held([with_fields(reader, fields)]))
}

test_project_role_without_a_project_in_the_target if {
	not allowed("project:instance:read", both(account_level, held([with_fields(reader, {"project": ""}), reader])))
}

test_account_actions_are_not_granted_in_a_project[note] if {
	some note, assignment in {
		"project role": project_role("role-own-v1"),
		"project role at account level": with_fields(project_role("role-own-v1"), {"project": ""}),
		"resource role": resource_role("instances/i-1"),
		"account role in a project": with_fields(account_role("role-own-v1"), {"project": "proj-demo-v1"}),
	}
	every target in [{}, account_level] {
		everything := both(target, both(
			custom({"account:*:*": true, "account:user:read": true, "*:*:*": true}, {}),
			held([with_fields(assignment, {"custom": true})]),
		))
		not allowed("account:user:read", everything)
	}
}

test_resource_role_covers_what_is_below_and_not_beside[note] if {
	some note, case in {
		"itself": ["instances/i-1", "instances/i-1", true],
		"longer": ["instances/i-1", "instances/i-10", false],
		"shorter": ["instances/i-10", "instances/i-1", false],
		"another collection": ["instances/i-1", "disks/i-1", false],
		"the collection": ["instances/i-1", "", false],
		"no resource on either side": ["", "", false],
	}
	asked := question("project:instance:read", both(
		both({"target": {"resource": case[1]}}, custom({"project:*:*": true}, {})),
		held([resource_role(case[0])]),
	))
	allow := authz.decision.allow with input as asked
	allow == case[2]
}

test_resource_role_does_not_count[note] if {
	some note, fields in {
		"inactive": {"status": "INACTIVE"},
		"role inactive": {"role_status": ""},
		"ended": {"running": false},
		"scope of a project role": {"role_scope": "PROJECT"},
		"scope of an account role": {"role_scope": "ACCOUNT"},
		"scope blank": {"role_scope": ""},
	}
	not allowed("project:instance:read", both(
		custom({"project:*:*": true}, {}),
		held([with_fields(resource_role("instances/i-1"), fields)]),
	))
}

# Not for the deny rule alone: such a role does not count in the first place.
test_account_action_on_a_project_has_no_role_there if {
	every assignment in [project_role(""), resource_role("instances/i-1")] {
		result := authz.decision with input as question("account:user:read", custom({"account:*:*": true}, assignment))
		result.code == "no_role"
	}
}

test_resource_role_in_another_project if {
	not allowed("project:instance:read", both(
		custom({"project:*:*": true}, {}),
		held([with_fields(resource_role("instances/i-1"), {"project": "proj-other-v1"})]),
	))
}

test_resource_role_without_a_project if {
	not allowed("project:instance:read", both(
		both({"target": {"project": "", "project_state": ""}}, custom({"project:*:*": true}, {})),
		held([with_fields(resource_role("instances/i-1"), {"project": ""})]),
	))
}

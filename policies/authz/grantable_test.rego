package authz_test

import data.authz

# Bob gives away patterns at a place, until a time.
giving(patterns, until, difference) := input_of([
	base, account_level, {"grant": {"permissions": {pattern: true | some pattern in patterns}, "until": until}},
	difference,
])

in_project := {"target": {"project": "proj-demo-v1", "project_state": "active", "resource": ""}}

on_resource := {"target": {"project": "proj-demo-v1", "project_state": "active", "resource": "instances/i-1"}}

# What a caller with one custom role holds.
holding(patterns, assignment) := custom({pattern: true | some pattern in patterns}, assignment)

grants_all(asked) if {
	result := authz.grantable with input as asked
	says(result, true, "holds_all")
}

grants_not(asked, reason) if {
	result := authz.grantable with input as asked
	says(result, false, reason)
}

test_held_patterns_contain_granted_ones[note] if {
	some note, case in {
		"the same": ["project:instance:read", "project:instance:read", true],
		"wider verb": ["project:instance:*", "project:instance:read", true],
		"wider resource": ["project:*:read", "project:instance:read", true],
		"wider scope": ["*:instance:read", "project:instance:read", true],
		"everything": ["*:*:*", "project:instance:read", true],
		"a wildcard in a wildcard": ["project:*:*", "project:*:read", true],
		"the same wildcard": ["project:*:read", "project:*:read", true],
		"narrower verb": ["project:instance:read", "project:instance:*", false],
		"narrower resource": ["project:instance:read", "project:*:read", false],
		"narrower scope": ["project:*:*", "*:*:*", false],
		"wide elsewhere": ["project:*:read", "project:instance:*", false],
		"wide crosswise": ["project:instance:*", "project:*:read", false],
		"another verb": ["project:instance:read", "project:instance:update", false],
		"another scope": ["project:*:*", "account:user:read", false],
		"two segments": ["*:*:*", "project:instance", false],
		"four segments": ["*:*:*", "project:instance:read:all", false],
		"blank": ["*:*:*", "", false],
	}
	asked := giving({case[1]}, never, holding({case[0]}, account_role("")))
	allow := authz.grantable.allow with input as asked
	allow == case[2]
}

test_held_patterns_contain_granted_ones_in_a_project[note] if {
	some note, case in {
		"the same": ["project:instance:read", "project:instance:read", true],
		"wider": ["project:*:*", "project:instance:read", true],
		"another resource": ["project:disk:read", "project:instance:read", false],
		"narrower": ["project:instance:read", "project:instance:*", false],
		"another scope": ["project:*:*", "resource:instance:read", false],
	}
	asked := giving({case[1]}, never, both(in_project, holding({case[0]}, project_role(""))))
	allow := authz.grantable.allow with input as asked
	allow == case[2]
}

test_ill_typed_flags_hold_nothing[note] if {
	some note, difference in {
		"ended or not, unknown": {"running": null},
		"ended or not, in a word": {"running": "true"},
		"ends before the grant or not, unknown": {"outlasts_grant": null},
		"ends before the grant or not, in a word": {"outlasts_grant": "true"},
	}
	asked := giving({"project:x:read"}, now + 5, holding({"project:*:*"}, account_role("")))
	grants_all(asked)
	changed := json.patch(asked, [{"op": "replace", "path": sprintf("/subject/here/0/%s", [name]), "value": value} |
		some name, value in difference
	])
	grants_not(changed, "the caller does not hold project:x:read")
}

test_role_of_another_scope_than_its_place_holds_nothing[path] if {
	some path in {"/subject/here/0/role_scope", "/subject/here/0/level"}
	asked := giving({"project:x:read"}, never, holding({"project:*:*"}, account_role("")))
	grants_all(asked)
	every other in ["PROJECT", ""] {
		changed := json.patch(asked, [{"op": "replace", "path": path, "value": other}])
		grants_not(changed, "the caller does not hold project:x:read")
	}
}

test_all_patterns_must_be_held if {
	grants_all(giving({"account:user:read", "project:*:read"}, never, held([account_role("account_reader")])))
	grants_not(
		giving({"account:user:read", "project:*:update", "account:*:*"}, never, held([account_role("account_reader")])),
		"the caller does not hold account:*:*",
	)
}

test_patterns_may_be_held_by_several_roles if {
	grants_all(giving({"account:user:read", "project:x:update"}, never, {"subject": {
		"assignments": [account_role("account_reader"), with_fields(account_role("role-own-v1"), {"custom": true})],
		"roles": {"role-own-v1": {"project:*:update": true}},
	}}))
}

test_nothing_is_not_grantable if {
	grants_not(giving(set(), never, admin), "nothing_to_grant")
}

test_place_of_the_grant[note] if {
	everything := {"project:*:*", "account:*:*"}
	some note, case in {
		"account by account": [{}, account_role(""), "project:x:read", true],
		"account by project": [{}, project_role(""), "project:x:read", false],
		"account by a project role at account level": [{}, with_fields(project_role(""), {"project": ""}), "project:x:read", false],
		"project by account": [in_project, account_role(""), "project:x:read", true],
		"project by project": [in_project, project_role(""), "project:x:read", true],
		"project by another project": [in_project, with_fields(project_role(""), {"project": "proj-other-v1"}), "project:x:read", false],
		"project by resource": [in_project, resource_role("instances/i-1"), "project:x:read", false],
		"resource by account": [on_resource, account_role(""), "project:x:read", true],
		"resource by project": [on_resource, project_role(""), "project:x:read", true],
		"resource by resource": [on_resource, resource_role("instances/i-1"), "project:x:read", true],
		"resource by another resource": [on_resource, resource_role("instances/i-10"), "project:x:read", false],
		"account pattern by account": [{}, account_role(""), "account:x:read", true],
		"account pattern by project": [in_project, project_role(""), "account:x:read", false],
		"account pattern by resource": [on_resource, resource_role("instances/i-1"), "account:x:read", false],
	}
	asked := giving({case[2]}, never, both(case[0], holding(everything, case[1])))
	allow := authz.grantable.allow with input as asked
	allow == case[3]
}

test_any_scope_is_not_held_in_a_project if {
	grants_not(
		giving({"*:x:read"}, never, both(in_project, holding({"*:*:*"}, project_role("")))),
		"the caller does not hold *:x:read",
	)
	grants_all(giving({"resource:x:read"}, never, both(in_project, holding({"*:*:*"}, project_role("")))))
	grants_all(giving({"*:x:read"}, never, holding({"*:*:*"}, account_role(""))))
}

test_grant_ends_no_later_than_what_it_comes_from[note] if {
	some note, case in {
		"for ever of for ever": [never, never, true],
		"an end of for ever": [never, now + 5, true],
		"the same end": [now + 5, now + 5, true],
		"an earlier end": [now + 5, now + 4, true],
		"a later end": [now + 5, now + 6, false],
		"for ever of an end": [now + 5, never, false],
		"an end of no time": [now + 5, -1, false],
		"of what ended before all time": [-1, now, false],
	}
	every place in [{}, in_project] {
		role := object.get({{}: account_role("")}, place, project_role(""))
		asked := giving({"project:x:read"}, case[1], both(place, holding({"project:*:*"}, with_fields(role, {"expires": case[0]}))))
		allow := authz.grantable.allow with input as asked
		allow == case[2]
	}
}

test_assignments_that_do_not_count_hold_nothing[note] if {
	some note, fields in {
		"inactive": {"status": "INACTIVE"},
		"role inactive": {"role_status": ""},
		"ended": {"running": false},
		"role scope unknown": {"role_scope": ""},
		"not custom": {"custom": false},
		"a role that is not there": {"role": "role-other-v1"},
	}
	asked := giving({"project:x:read"}, never, {"subject": {
		"assignments": [with_fields(account_role("role-own-v1"), object.union({"custom": true}, fields))],
		"roles": {"role-own-v1": {"project:*:*": true}},
	}})
	grants_not(asked, "the caller does not hold project:x:read")
}

test_permission_that_is_switched_off_is_not_held if {
	every place in [{}, in_project] {
		role := object.get({{}: account_role("")}, place, project_role(""))
		grants_not(
			giving({"project:x:read"}, never, both(place, custom({"project:x:read": false}, role))),
			"the caller does not hold project:x:read",
		)
	}
}

test_key_scopes_bound_what_is_held[note] if {
	some note, case in {
		"read by read": ["project:x:read", {"read"}, true],
		"list by read": ["project:x:list", {"read"}, true],
		"update by read": ["project:x:update", {"read"}, false],
		"update by write": ["project:x:update", {"write"}, true],
		"read by write": ["project:x:read", {"write"}, false],
		"all verbs by read": ["project:x:*", {"read"}, false],
		"all verbs by write": ["project:x:*", {"write"}, false],
		"all verbs by both": ["project:x:*", {"read", "write"}, true],
		"read by none": ["project:x:read", set(), false],
	}
	every place in [{}, in_project] {
		role := object.get({{}: account_role("")}, place, project_role(""))
		asked := giving({case[0]}, never, both(both(place, key(case[1])), holding({"project:*:*"}, role)))
		allow := authz.grantable.allow with input as asked
		allow == case[2]
	}
}

test_deny_rules_hold_for_grants[note] if {
	some note, case in {
		"suspended": [{"account": {"status": "SUSPENDED"}}, "needs_active_account"],
		"not a member": [{"subject": {"member": false}}, "needs_active_member"],
		"another account": [{"target": {"account": "acct-other-v1"}}, "needs_same_account"],
		"project not there": [
			{"target": {"project": "proj-other-v1", "project_state": "absent"}},
			"needs_active_project",
		],
		"another user": [{"principal": {"id": "user-alice-v1"}}, "not_a_user"],
		"a service": [{"principal": {"kind": "service"}}, "not_a_user"],
		"nobody": [both(nobody, {}), "not_a_user"],
	}
	grants_not(giving({"account:*:*"}, never, both(admin, case[0])), case[1])
}

test_reason_does_not_say_whether_the_project_exists if {
	every state in ["active", "absent", "deleting"] {
		grants_not(
			giving({"project:x:read"}, never, {"target": {"project": "proj-other-v1", "project_state": state}}),
			"the caller does not hold project:x:read",
		)
	}
}

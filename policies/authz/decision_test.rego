package authz_test

import data.authz

nothing := "no_role"

test_decision_allows[note] if {
	some note, case in {
		"by a system role": {
			"input": question("project:instance:read", held([project_role("project_reader")])),
			"reason": "role project_reader grants {action}",
		},
		"at account level": {
			"input": question("account:role:read", both(account_level, held([account_role("team_member")]))),
			"reason": "role team_member grants {action}",
		},
		"by a custom role": {
			"input": question("project:instance:create", custom({"project:instance:*": true}, project_role(""))),
			"reason": "role role-own-v1 grants {action}",
		},
		"by the smallest of several, whatever the order": {
			"input": question("project:instance:read", held([
				project_role("project_reader"),
				account_role("account_reader"),
				project_role("project_admin"),
				account_role("account_admin"),
			])),
			"reason": "role account_admin grants {action}",
		},
		"where the path names no account": {
			"input": question("project:instance:read", both(
				{"target": {"account": ""}},
				held([project_role("project_reader")]),
			)),
			"reason": "role project_reader grants {action}",
		},
	}
	result := authz.decision with input as case.input
	says(result, true, case.reason)
}

test_decision_denies[note] if {
	some note, case in {
		"without a role": {"input": question("project:instance:create", {}), "reason": nothing},
		"by a role that grants something else": {
			"input": question("project:instance:create", held([project_role("project_reader")])),
			"reason": nothing,
		},
		"without a role, at account level": {
			"input": question("account:role:read", account_level),
			"reason": "no_role",
		},
		"without an action, but with patterns": {
			"input": input_of([
				base, held([account_role("account_admin")]),
				{"action": {"patterns": action("project:instance:read").patterns}},
			]),
			"reason": "no_role",
		},
		"without an action, but with all else of one": {
			"input": input_of([
				base, held([account_role("account_admin")]),
				{"action": object.union(action("project:instance:read"), {"id": ""})},
			]),
			"reason": "no_role",
		},
		"without an action": {
			"input": input_of([base, held([account_role("account_admin")])]),
			"reason": "no_role",
		},
	}
	result := authz.decision with input as case.input
	says(result, false, case.reason)
}

test_incomplete_questions_are_denied[note] if {
	some note, incomplete in {
		"nothing at all": {},
		"no action": object.remove(question("project:instance:read", {}), ["action"]),
		"no target": object.remove(question("project:instance:read", {}), ["target"]),
		"no grant": object.remove(question("project:instance:read", {}), ["grant"]),
	}
	every entry_point in [authz.decision, authz.access, authz.grantable] {
		entry_point.allow == false
		is_string(entry_point.reason)
	} with input as incomplete
}

# Take any one value of an allowed question away, and it is not allowed any more.
test_a_missing_value_never_allows[path] if {
	allowed := question("project:instance:read", held([project_role("project_reader")]))
	some path in {
		"/action/id", "/action/patterns", "/action/scope",
		"/principal/credential",
		"/account/named", "/account/exists", "/account/status",
		"/subject/named", "/subject/exists", "/subject/status", "/subject/member", "/subject/here",
		"/subject/here/0/role", "/subject/here/0/custom", "/subject/here/0/role_scope",
		"/subject/here/0/role_status", "/subject/here/0/status", "/subject/here/0/running",
		"/subject/here/0/level", "/subject/here/0",
		"/target/same_account", "/target/level", "/target/project_state",
	}
	incomplete := json.patch(allowed, [{"op": "remove", "path": path}])
	not authz.decision.allow with input as incomplete
	authz.decision.allow with input as allowed
}

package authz_test

import data.authz

admin := held([account_role("account_admin")])

# The same answer with and without a role, with an account that exists and one that does not.
test_only_active_members_are_allowed[note] if {
	some note, difference in {
		"user unknown": {"subject": {"exists": false, "status": "", "member": false}},
		"user unknown but for a status": {"subject": {"exists": false}},
		"user without an id": {"subject": {"id": ""}, "principal": {"id": ""}},
		"user invited": {"subject": {"status": "INVITED"}},
		"user inactive": {"subject": {"status": "INACTIVE"}},
		"user status blank": {"subject": {"status": ""}},
		"user status unknown": {"subject": {"status": "Active"}},
		"member of another account": {"subject": {"member": false}},
		"account unknown": {"account": {"exists": false, "status": ""}},
		"account unknown but for a status": {"account": {"exists": false}},
		"no account": {"account": {"id": ""}, "target": {"account": ""}},
		"not a member, and the account suspended": {"subject": {"member": false}, "account": {"status": "SUSPENDED"}},
	}
	every roles in [admin, {}] {
		result := authz.decision with input as question("project:instance:create", both(difference, roles))
		result == {"allow": false, "reason": "the user is not an active member of the account"}
	}
}

test_accounts_that_are_not_active[status] if {
	some status in {"SUSPENDED", "DELETED", "active", ""}
	every roles in [admin, {}] {
		result := authz.decision with input as question(
			"project:instance:create",
			both({"account": {"status": status}}, roles),
		)
		result == {"allow": false, "reason": "the account is suspended"}
	}
}

test_path_names_another_account if {
	every roles in [admin, {}] {
		result := authz.decision with input as question(
			"project:instance:create",
			both({"target": {"account": "acct-other-v1"}}, roles),
		)
		result == {"allow": false, "reason": "the path names another account"}
	}
}

test_account_action_on_a_project if {
	result := authz.decision with input as question("account:user:read", admin)
	result == {"allow": false, "reason": "an account action is not asked on a project"}
}

test_projects_that_are_not_active[state] if {
	some state in {"absent", "deleting", "", "ACTIVE"}
	gone := {"target": {"project_state": state}}

	# Who has a role for it is told; who has none gets what an existing project would have answered.
	told := authz.decision with input as question("project:instance:create", both(gone, admin))
	told == {"allow": false, "reason": "the project is not an active project of the account"}
	not_told := authz.decision with input as question("project:instance:create", gone)
	not_told == {
		"allow": false,
		"reason": "no active role of the user grants project:instance:create in proj-demo-v1",
	}
	without := authz.decision with input as question("project:instance:create", {})
	not_told == without
}

test_several_reasons_give_the_smallest[note] if {
	some note, case in {
		"suspended and elsewhere": {
			"difference": {"account": {"status": "SUSPENDED"}, "target": {"account": "acct-other-v1"}},
			"reason": "the account is suspended",
		},
		"nobody and elsewhere": {
			"difference": {"subject": {"member": false}, "target": {"account": "acct-other-v1"}},
			"reason": "the path names another account",
		},
		"an open one before one that hints": {
			"difference": {"account": {"status": "SUSPENDED"}, "target": {"project_state": "absent"}},
			"reason": "the account is suspended",
		},
		"an account action in an absent project": {
			"difference": {"action": action("account:user:read"), "target": {"project_state": "absent"}},
			"reason": "an account action is not asked on a project",
		},
	}
	result := authz.decision with input as question("project:instance:create", both(admin, case.difference))
	result == {"allow": false, "reason": case.reason}
}

# Two wrong places name the same reason, whatever else is the matter with them.
test_reasons_do_not_hint[note] if {
	some note, difference in {
		"user": {"subject": {"exists": false, "status": "", "member": false}},
		"account": {"account": {"exists": false, "status": ""}},
		"account and user": {
			"account": {"exists": false, "status": ""},
			"subject": {"exists": false, "status": "", "member": false},
		},
	}
	foreign := {"subject": {"member": false}}
	one := authz.decision with input as question("project:instance:read", difference)
	other := authz.decision with input as question("project:instance:read", foreign)
	one == other
}

# A rule of an author's own: whatever it is about, it wins over every grant.
test_every_deny_rule_wins if {
	own := {"b", "a reason of one's own"}
	roles := authz.decision with input as question("project:instance:create", admin) with data.authz.deny as own
	roles == {"allow": false, "reason": "a reason of one's own"}
	none := authz.decision with input as question("project:instance:create", {}) with data.authz.deny as own
	none == {"allow": false, "reason": nothing}
	grants := authz.grantable with input as giving({"project:x:read"}, never, admin) with data.authz.deny as own
	grants == {"allow": false, "reason": "a reason of one's own"}
	every access in [{"self"}, {"self_by_token"}, {"member"}] {
		asked := input_of([base, about("user-bob-v1"), route(access, "read")])
		authz.access.allow with input as asked
		not authz.access.allow with input as asked with data.authz.deny as own
	}
}

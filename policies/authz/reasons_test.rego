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
		says(result, false, "needs_active_member")
	}
}

test_accounts_that_are_not_active[status] if {
	some status in {"SUSPENDED", "DELETED", "active", ""}
	every roles in [admin, {}] {
		result := authz.decision with input as question(
			"project:instance:create",
			both({"account": {"status": status}}, roles),
		)
		says(result, false, "needs_active_account")
	}
}

test_path_names_another_account if {
	every roles in [admin, {}] {
		result := authz.decision with input as question(
			"project:instance:create",
			both({"target": {"account": "acct-other-v1"}}, roles),
		)
		says(result, false, "needs_same_account")
	}
}

test_account_action_on_a_project if {
	result := authz.decision with input as question("account:user:read", admin)
	says(result, false, "needs_account_level")
}

test_projects_that_are_not_active[state] if {
	some state in {"absent", "deleting", "", "ACTIVE"}
	gone := {"target": {"project_state": state}}

	# Who has a role for it is told; who has none gets what an existing project would have answered.
	told := authz.decision with input as question("project:instance:create", both(gone, admin))
	says(told, false, "needs_active_project")
	not_told := authz.decision with input as question("project:instance:create", gone)
	says(not_told, false, "no_role")
	without := authz.decision with input as question("project:instance:create", {})
	not_told == without
}

test_several_reasons_give_the_smallest[note] if {
	some note, case in {
		"suspended and elsewhere": {
			"difference": {"account": {"status": "SUSPENDED"}, "target": {"account": "acct-other-v1"}},
			"code": "needs_active_account",
		},
		"nobody and elsewhere": {
			"difference": {"subject": {"member": false}, "target": {"account": "acct-other-v1"}},
			"code": "needs_same_account",
		},
		"an open one before one that hints": {
			"difference": {"account": {"status": "SUSPENDED"}, "target": {"project_state": "absent"}},
			"code": "needs_active_account",
		},
		"an account action in an absent project": {
			"difference": {"action": action("account:user:read"), "target": {"project_state": "absent"}},
			"code": "needs_account_level",
		},
	}
	result := authz.decision with input as question("project:instance:create", both(admin, case.difference))
	says(result, false, case.code)
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
	says(roles, false, "a reason of one's own")
	none := authz.decision with input as question("project:instance:create", {}) with data.authz.deny as own
	says(none, false, nothing)
	grants := authz.grantable with input as giving({"project:x:read"}, never, admin) with data.authz.deny as own
	says(grants, false, "a reason of one's own")
	every access in [{"self"}, {"self_by_token"}, {"member"}] {
		asked := input_of([base, about("user-bob-v1"), route(access, "read")])
		authz.access.allow with input as asked
		not authz.access.allow with input as asked with data.authz.deny as own
	}
}

# What each code says, as people read it: values of the question, and the text with them.
said := {
	"needs_active_member": [[], "the user is not an active member of the account"],
	"needs_active_account": [[], "the account is suspended"],
	"needs_same_account": [[], "the path names another account"],
	"needs_account_level": [[], "an account action is not asked on a project"],
	"needs_active_project": [[], "the project is not an active project of the account"],
	"needs_credential_scope": [[], "the scopes of the credential do not allow this"],
	"needs_registered_agent": [[], "the account has not registered the agent"],
	"needs_active_agent": [[], "the agent is suspended"],
	"needs_delegation": [[], "the user has not delegated {action} to the agent in {place}"],
	"incomplete": [[], "the question is incomplete"],
	"deny_rule": [["a reason of one's own"], "a reason of one's own"],
	"no_role": [[], "no active role of the user grants {action} in {place}"],
	"no_credential": [[], "this needs a credential"],
	"no_service_scope": [[], "no scope of the service allows this"],
	"not_own": [[], "this is not the caller's"],
	"not_a_user": [[], "only a user grants permissions"],
	"nothing_to_grant": [[], "nothing to grant"],
	"not_held": [["a:b:*"], "the caller does not hold a:b:*"],
	"role": [["role-x-v1"], "role role-x-v1 grants {action}"],
	"public": [[], "the route is public"],
	"service_scope": [["users:sync"], "the scope users:sync allows this"],
	"asks_self": [[], "the caller asks about itself"],
	"self": [[], "this is the caller's own"],
	"self_by_token": [[], "this is the caller's own, by token"],
	"member": [[], "the caller is a member of the account"],
	"holds_all": [[], "the caller holds all of it"],
}

test_reasons_say[code] if {
	some code in (object.keys(authz.reason_texts) | object.keys(said))
	[values, text] := said[code]
	authz.denied(code, values) == {"allow": false, "code": code, "reason": text}
	authz.allowed(code, values) == {"allow": true, "code": code, "reason": text}
}

# The defaults, which OPA wants written out.
test_default_is_of_the_table[entry] if {
	some entry, incomplete in {
		"decision": object.remove(question("project:instance:read", {}), ["action"]),
		"access": {},
		"grantable": object.remove(giving(set(), never, {}), ["grant"]),
	}
	answer := authz[entry] with input as incomplete
	answer == authz.denied("incomplete", [])
}

package authz_test

import data.authz

# One's own profile: no action, no place, about a user.
profile(difference, effect) := input_of([base, account_level, about("user-bob-v1"), route({"self"}, effect), difference])

about(user) := {"target": {"user": user}}

refused_access(asked, reason) if {
	result := authz.access with input as asked
	says(result, false, reason)
}

given_access(asked, reason) if {
	result := authz.access with input as asked
	says(result, true, reason)
}

test_own_is_given[note] if {
	some note, case in {
		"by id": [{}, "write"],
		"by uuid": [about("uuid-bob"), "write"],
		"no account named": [no_account, "write"],
		"no account named, facts of none": [both(no_account, {"subject": {"id": "", "exists": false, "member": false}}), "read"],
		"read by a read key": [key({"read"}), "read"],
		"write by a write key": [key({"write"}), "write"],
		"no account named, by a key": [both(no_account, key({"read"})), "read"],
	}
	given_access(profile(case[0], case[1]), "self")
}

test_own_is_refused[note] if {
	some note, case in {
		"another user": [about("user-alice-v1"), "read"],
		"another user, no account named": [both(no_account, about("user-alice-v1")), "read"],
		"no user": [about(""), "read"],
		"no user and no id": [both(about(""), {"principal": {"id": "", "uuid": ""}, "subject": {"id": ""}}), "read"],
		"no user and no uuid, no account named": [both(no_account, both(about(""), {"principal": {"uuid": ""}})), "read"],
		"no user and no id, no account named": [both(no_account, both(about(""), {"principal": {"id": ""}})), "read"],
		"not a member, no account in the path": [{"subject": {"member": false}, "target": {"account": ""}}, "read"],
		"read by a write key": [key({"write"}), "read"],
		"write by a read key": [key({"read"}), "write"],
		"write by a read key, no account named": [both(no_account, key({"read"})), "write"],
		"an effect that is blank, by a read key": [key({"read"}), ""],
		"no credential": [{"principal": {"credential": "none"}}, "read"],
		"not a member": [{"subject": {"member": false}}, "read"],
		"not active": [{"subject": {"status": "INACTIVE"}}, "read"],
		"account unknown": [{"account": {"exists": false, "status": ""}}, "read"],
		"facts of another user": [{"subject": {"id": "user-alice-v1"}}, "read"],
		"path of another account": [{"target": {"account": "acct-other-v1"}}, "read"],
		"path of an account, none in question": [{"account": {"id": "", "exists": false, "status": ""}}, "read"],
		"suspended account of others": [{"account": {"status": "SUSPENDED"}, "subject": {"member": false}}, "read"],
	}
	refused_access(profile(case[0], case[1]), "not_own")
}

test_own_in_a_suspended_account if {
	refused_access(profile({"account": {"status": "SUSPENDED"}}, "read"), "needs_active_account")
}

test_own_is_for_users[note] if {
	some note, case in {
		"service": ["service", "no_service_scope"],
		"none": ["none", "no_credential"],
	}
	refused_access(profile({"principal": {"kind": case[0]}}, "read"), case[1])
	refused_access(profile(both(no_account, {"principal": {"kind": case[0]}}), "read"), case[1])
	refused_access(profile(both(no_account, both(about("uuid-bob"), {"principal": {"kind": case[0]}})), "read"), case[1])
	refused_access(profile(both(about(""), {"principal": {"kind": case[0], "id": "", "uuid": ""}}), "read"), case[1])
}

test_own_is_for_routes_that_say_so if {
	every difference in [{}, no_account] {
		asked := input_of([base, account_level, about("user-bob-v1"), route({"asks_itself"}, "read"), difference])
		refused_access(asked, "not_own")
	}
}

test_own_with_an_action if {
	listing := {"action": action("account:role:read")}
	given_access(profile(listing, "read"), "self")
	refused_access(profile(both(listing, about("user-alice-v1")), "read"), "no_role")
	refused_access(profile(both(listing, key({"write"})), "read"), "no_role")
}

test_own_without_any_account_says_so if {
	someone := both(no_account, about("user-alice-v1"))
	refused_access(profile(both(someone, {"action": action("account:role:read")}), "read"), "no_role")
}

account_page(difference) := input_of([base, account_level, route({"member"}, "read"), difference])

test_members_are_given if {
	given_access(account_page({}), "member")
	given_access(account_page(key({"read"})), "member")
}

test_members_are_refused[note] if {
	some note, difference in {
		"not a member": {"subject": {"member": false}},
		"not active": {"subject": {"status": "INVITED"}},
		"account unknown": {"account": {"exists": false, "status": ""}},
		"no account": no_account,
		"path of another account": {"target": {"account": "acct-other-v1"}},
		"project that is not there": {"target": {"project": "proj-demo-v1", "project_state": "absent"}},
		"facts of another user": {"subject": {"id": "user-alice-v1"}},
		"key without the scope": key({"write"}),
	}
	refused_access(account_page(difference), "not_own")
}

test_members_of_a_suspended_account if {
	refused_access(account_page({"account": {"status": "SUSPENDED"}}), "needs_active_account")
}

# The route of authorization.check: about whom is asked stands in target.user, the place asked about
# is not the route's.
ask(difference) := input_of([
	base, account_level, about("user-bob-v1"), {"action": action("account:authorization:check"), "target": {"account": ""}},
	route({"asks_self", "service:authz:check"}, "read"), difference,
])

test_asking_about_oneself[note] if {
	some note, difference in {
		"in one's account": {},
		"in a suspended one": {"account": {"status": "SUSPENDED"}},
		"in another one": {"subject": {"member": false}},
		"in one that is not there": {"account": {"exists": false, "status": ""}},
		"with a read key": key({"read"}),
		"with a write key": key({"write"}),
	}
	given_access(ask(difference), "asks_self")
}

test_asking_about_others[note] if {
	some note, case in {
		"a member": [{}, "no_role"],
		"a reader": [
			held([account_role("account_reader")]),
			"no_role",
		],
		"about nobody": [
			{"target": {"user": ""}, "principal": {"id": ""}},
			"no_role",
		],
		"an admin with a read key": [
			both(admin, key({"read"})),
			"no_role",
		],
		"an admin of a suspended account": [both(admin, {"account": {"status": "SUSPENDED"}}), "needs_active_account"],
		"a service that asks as the user": [{"principal": {"kind": "service"}}, "no_service_scope"],
		"nobody as the user": [{"principal": {"kind": "none"}}, "no_credential"],
	}
	refused_access(ask(both(about("user-alice-v1"), case[0])), case[1])
}

test_asking_as_nobody if {
	refused_access(ask(both(nobody, about(""))), "no_credential")
	refused_access(ask({"principal": {"kind": "none"}}), "no_credential")
	refused_access(ask({"principal": {"kind": "service"}}), "no_service_scope")
}

test_admins_ask_about_others if {
	given_access(ask(both(about("user-alice-v1"), admin)), "role account_admin grants {action}")
}

# What an API key must not do even for its owner.
by_token(difference, effect) := input_of([base, account_level, about("user-bob-v1"), route({"self_by_token"}, effect), difference])

test_own_by_token_is_given[note] if {
	some note, difference in {
		"by id": {},
		"by uuid": about("uuid-bob"),
		"no account named": no_account,
		"no account named, facts of none": both(no_account, {"subject": {"id": "", "exists": false, "member": false}}),
	}
	every effect in ["read", "write"] {
		given_access(by_token(difference, effect), "self_by_token")
	}
}

test_own_by_token_is_refused[note] if {
	some note, difference in {
		"a key": key({"read", "write"}),
		"a key, no account named": both(no_account, key({"read", "write"})),
		"no credential": {"principal": {"credential": "none"}},
		"no credential, no account named": both(no_account, {"principal": {"credential": "none"}}),
		"another user": about("user-alice-v1"),
		"another user, no account named": both(no_account, about("user-alice-v1")),
		"no user": about(""),
		"not a member": {"subject": {"member": false}},
		"facts of another user": {"subject": {"id": "user-alice-v1"}},
		"path of another account": {"target": {"account": "acct-other-v1"}},
	}
	every effect in ["read", "write"] {
		refused_access(by_token(difference, effect), "not_own")
	}
}

test_own_by_token_in_a_suspended_account if {
	refused_access(by_token({"account": {"status": "SUSPENDED"}}, "read"), "needs_active_account")
}

test_own_by_token_is_for_users if {
	refused_access(by_token({"principal": {"kind": "service"}}, "read"), "no_service_scope")
	refused_access(by_token(both(no_account, {"principal": {"kind": "service"}}), "read"), "no_service_scope")
	refused_access(by_token({"principal": {"kind": "none"}}, "read"), "no_credential")
}

test_own_by_token_is_for_routes_that_say_so if {
	every difference in [{}, no_account] {
		asked := input_of([base, account_level, about("user-bob-v1"), route({"self_by_tokens"}, "read"), difference])
		refused_access(asked, "not_own")
	}
}

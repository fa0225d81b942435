package authz_test

import data.authz

test_access_is_given[note] if {
	some note, case in {
		"public, to nobody": [both(nobody, no_account), {"public"}, "public"],
		"public, whatever the account": [
			both(nobody, {"account": {"status": "SUSPENDED"}}),
			{"public"}, "public",
		],
		"by a role": [admin, set(), "role account_admin grants {action}"],
		"by a role, by a key": [
			both(admin, key({"write"})),
			set(), "role account_admin grants {action}",
		],
		"by a role where only services are named": [
			admin,
			{"service:platform:admin"}, "role account_admin grants {action}",
		],
	}
	result := authz.access with input as question("project:instance:create", both(case[0], route(case[1], "write")))
	says(result, true, case[2])
}

test_access_is_refused[note] if {
	some note, case in {
		"without a role": [{}, nothing],
		"to a key without the scope": [both(admin, key({"read"})), nothing],
		"to a member of another account": [both(admin, {"subject": {"member": false}}), nothing],
		"in an account that is not there": [both(admin, {"account": {"exists": false, "status": ""}}), nothing],
		"in a project that is not there": [both(admin, {"target": {"project_state": "absent"}}), nothing],
		"on the path of another account": [both(admin, {"target": {"account": "acct-other-v1"}}), nothing],
		"on the strength of another user's role": [both(admin, {"principal": {"id": "user-alice-v1"}}), nothing],
		"in a suspended account": [both(admin, {"account": {"status": "SUSPENDED"}}), "needs_active_account"],
		"in a suspended account of others": [
			both(admin, {"account": {"status": "SUSPENDED"}, "subject": {"member": false}}),
			nothing,
		],
		"to a service with a user's facts": [
			both(admin, {"principal": {"kind": "service"}}),
			"no_service_scope",
		],
		"to a service with a suspended user's facts": [
			both(admin, {"principal": {"kind": "service"}, "account": {"status": "SUSPENDED"}}),
			"no_service_scope",
		],
		"to nobody": [nobody, "no_credential"],
		"to nobody with a user's facts": [both(admin, {"principal": {"kind": "none"}}), "no_credential"],
		"to empty ids": [both(admin, {"principal": {"id": ""}, "subject": {"id": ""}}), nothing],
		"to an agent without a user": [both(admin, {"principal": {"kind": "agent"}}), "not_own"],
		"to a caller of an unknown kind": [
			both(admin, {"principal": {"kind": "robot"}}),
			"incomplete",
		],
	}
	every kinds in [set(), {"asks_self"}, {"self"}, {"self_by_token"}, {"service:authz:check"}] {
		asked := question("project:instance:create", both(case[0], route(kinds, "write")))
		result := authz.access with input as asked
		says(result, false, case[1])
	}
}

# A caller reads of a deny rule what `decision` tells it: its reason where a role would let it in, or
# where the reason is public.
test_access_gives_the_reason_of_a_deny_rule if {
	own := {"a reason of one's own"}
	public := {["a reason of one's own", "deny_rule"]}
	held_role := question("project:instance:create", both(admin, route(set(), "write")))
	by_role := authz.access with input as held_role with data.authz.deny as own
	says(by_role, false, "a reason of one's own")
	none := question("project:instance:create", both({}, route(set(), "write")))
	secret := authz.access with input as none with data.authz.deny as own
	says(secret, false, nothing)
	every asked in [none, input_of([base, about("user-bob-v1"), route({"self"}, "read")])] {
		open := authz.access with input as asked with data.authz.deny as own with data.authz.public_reasons as public
		says(open, false, "a reason of one's own")
	}
	foreign := question("project:instance:create", both(
		both(admin, {"principal": {"kind": "service"}}),
		route(set(), "write"),
	))
	to_service := authz.access with input as foreign with data.authz.deny as own with data.authz.public_reasons as public
	says(to_service, false, "no_service_scope")
}

test_route_without_an_action_needs_one_of_its_access_words if {
	result := authz.access with input as input_of([base, admin, route(set(), "read")])
	says(result, false, "not_own")
}

test_access_words_that_are_switched_off_give_nothing if {
	off := {"public": false, "self": false, "self_by_token": false, "member": false, "asks_self": false, "service:authz:check": false}
	every caller in [{}, nobody, service({"authz:check"})] {
		asked := input_of([base, {"target": {"user": "user-bob-v1"}, "route": {"access": off, "effect": "read"}}, caller])
		result := authz.access with input as asked
		result.allow == false
	}
}

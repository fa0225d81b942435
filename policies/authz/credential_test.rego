package authz_test

import data.authz

test_key_scopes_bound_the_owner[note] if {
	some note, case in {
		"read by read": ["read", {"read"}, true],
		"list by read": ["list", {"read"}, true],
		"read by both": ["read", {"read", "write"}, true],
		"read by write": ["read", {"write"}, false],
		"list by write": ["list", {"write"}, false],
		"create by write": ["create", {"write"}, true],
		"create by read": ["create", {"read"}, false],
		"an unknown verb is no reading": ["readall", {"read"}, false],
		"nothing by no scope": ["read", set(), false],
		"nothing by an unknown scope": ["create", {"admin", "READ"}, false],
	}
	owner := question(
		concat(":", ["project", "instance", case[0]]),
		both(key(case[1]), custom({"project:*:*": true}, account_role(""))),
	)
	allow := authz.decision.allow with input as owner
	allow == case[2]
}

test_key_scope_that_is_switched_off if {
	result := authz.decision with input as question("project:instance:read", both(
		{"principal": {"credential": "key", "key_scopes": {"read": false}}},
		admin,
	))
	says(result, false, "needs_credential_scope")
}

test_key_adds_nothing_to_its_owner if {
	result := authz.decision with input as question("project:instance:create", key({"read", "write"}))
	says(result, false, "no_role")
}

test_a_credential_of_no_kind_allows_nothing if {
	every credential in ["none", "", "cookie"] {
		not allowed("project:instance:read", both(
			{"principal": {"credential": credential, "key_scopes": {"read": true, "write": true}}},
			admin,
		))
	}
}

# Somebody else's key says nothing about the user in question.
test_key_of_somebody_else_does_not_bound if {
	allowed("project:instance:create", both(
		both(key({"read"}), {"principal": {"id": "user-alice-v1"}}),
		admin,
	))
}

test_services_and_nobody_are_not_bounded_by_credential[kind] if {
	some kind in {"service", "none"}
	allowed("project:instance:create", both(
		{"principal": {"kind": kind, "credential": "none"}},
		admin,
	))
}

test_caller_is_subject[note] if {
	some note, case in {
		"same": [{}, true],
		"another user": [{"principal": {"id": "user-alice-v1"}}, false],
		"nobody": [{"principal": {"kind": "none"}}, false],
		"a service with the user's name": [{"principal": {"kind": "service"}}, false],
		"empty ids": [{"principal": {"id": ""}, "subject": {"id": ""}}, false],
		"the uuid is not the id": [{"subject": {"id": "uuid-bob"}}, false],
	}
	same := count([true | authz.caller_is_subject with input as question("account:user:read", case[0])])
	same == count([true | case[1]])
}

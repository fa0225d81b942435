package authz_test

import data.authz

# What holds whatever an overlay adds: these tests run on every tree that is made of this one.

_admin := held([account_role("account_admin")])

_promised_denials := {
	"a user of another account": {"account": {"id": "acct-other-v1"}, "subject": {"member": false}},
	"a user who is suspended": {"subject": {"status": "SUSPENDED"}},
	"a user who is not known": {"subject": {"exists": false, "status": ""}},
	"a user without an id": {"subject": {"id": ""}},
	"a path of another account": {"target": {"account": "acct-other-v1"}},
	"an account that is suspended": {"account": {"status": "SUSPENDED"}},
	"an account that does not exist": {"account": {"exists": false, "status": ""}},
	"a project that is being deleted": {"target": {"project_state": "deleting"}},
	"a key without a scope": {"principal": {"credential": "key", "key_scopes": {}}},
}

test_promise_no_answer_without_what_must_hold[note] if {
	some note, difference in _promised_denials
	allow := authz.decision.allow with input as question("project:instance:read", object.union(_admin, difference))
	allow == false
}

test_promise_no_answer_without_a_role[note] if {
	some note, assignments in {
		"no role": [],
		"a role that has ended": [with_fields(account_role("account_admin"), {"running": false})],
		"an assignment that is not active": [with_fields(account_role("account_admin"), {"status": "INACTIVE"})],
		"a role that is not active": [with_fields(account_role("account_admin"), {"role_status": "INACTIVE"})],
		"a role of another project": [with_fields(project_role("account_admin"), {"project": "proj-other-v1"})],
	}
	allow := authz.decision.allow with input as question("project:instance:read", held(assignments))
	allow == false
}

test_promise_nothing_is_granted_that_is_not_held if {
	allow := authz.grantable.allow with input as input_of([base, {"grant": {"permissions": {"project:instance:read": true}}}])
	allow == false
}

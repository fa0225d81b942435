package authz_test

import data.authz

told(difference) := codes if {
	codes := authz.told with input as question("project:instance:read", difference)
}

of_the_question := {"needs_active_member", "needs_same_account", "needs_account_level", "needs_credential_scope"}

test_explanation_tells_no_more_than_the_answer[note] if {
	some note, case in {
		"a member without a role": [{}, (of_the_question | {"needs_active_account"})],
		"a member whom a role lets in": [admin, (authz.condition_codes | {"deny_rule"})],
		"a member without a role, no project": [{"target": {"project_state": "absent"}}, (of_the_question | {"needs_active_account"})],
		"nobody of the account": [{"subject": {"member": false}}, of_the_question],
		"nobody of the account, with a role": [both(admin, {"subject": {"member": false}}), of_the_question],
		"a suspended account": [{"account": {"status": "SUSPENDED"}}, (of_the_question | {"needs_active_account"})],
		"a suspended account of others": [
			{"account": {"status": "SUSPENDED"}, "subject": {"member": false}},
			of_the_question,
		],
	}
	told(case[0]) == case[1]
}

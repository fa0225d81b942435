package authz_test

import data.authz

test_own_project_is_not_deleted_with_a_key[credential] if {
	some credential, expected in {"token": true, "key": false}
	by := {"principal": {"credential": credential, "key_scopes": {"write": true}}}
	admin := held([account_role("account_admin")])
	allow := authz.decision.allow with input as question("account:project:delete", object.union_n([account_level, admin, by]))
	allow == expected
}

package authz

# METADATA
# title: Codes that an explanation may tell the user in question
# description: |
#   Names of `conditions`, and "deny_rule" for the deny rules that fire. An explanation tells the
#   user no more than `decision` does: only users whom a role would let in learn what exists.
#   Conditions of the question itself, and the user's own membership, are no secret.
told contains code if {
	some code in {
		"needs_active_member",
		"needs_same_account",
		"needs_account_level",
		"needs_credential_scope",
	}
}

# Only a member is told that the account is suspended.
told contains "needs_active_account" if "needs_active_member" in met

told contains code if {
	granting_role
	"needs_active_member" in met
	some code in (condition_codes | {"deny_rule"})
}

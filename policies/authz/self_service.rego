package authz

# METADATA
# title: May the caller do this as the user whom the request is about?
self_allowed if {
	input.route.access.self
	_about_the_caller
	_account_permits
	credential_allows(input.route.effect)
}

# METADATA
# title: The same, for what an API key never does
# description: A key lives in scripts, and would give away what outlives it.
self_by_token_allowed if {
	input.route.access.self_by_token
	input.principal.credential == "token"
	_about_the_caller
	_account_permits
}

# METADATA
# title: May the caller do this as a member of the account?
member_allowed if {
	input.route.access.member
	_caller_meets_conditions
	credential_allows(input.route.effect)
}

# METADATA
# title: May the caller ask about itself?
# description: In any account and with any credential; the answer to the question is another matter.
asks_self_allowed if {
	input.principal.kind == "user"
	input.route.access.asks_self
	input.target.about == "caller"
}

# A user is named by the external id or by the UUID.
_about_the_caller if {
	input.principal.kind == "user"
	input.target.about in {"caller", "caller_by_uuid"}
}

# Where no account is named, the caller's own record is all there is to ask.
_account_permits if {
	input.account.named == false
	input.target.same_account
}

_account_permits if _caller_meets_conditions

_caller_meets_conditions if {
	caller_is_subject
	preconditions_met
}

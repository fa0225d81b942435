package authz

# METADATA
# title: What the caller may do as the user whom the request is about
# description: Where no account is named, the caller's own record is all there is to ask. Where one is named, the conditions hold here as everywhere.
own if {
	input.route.access.self
	_about_the_caller
	_no_account_named
	credential_allows(input.route.effect)
}

own if {
	input.route.access.self
	_about_the_caller
	_in_the_account
	credential_allows(input.route.effect)
}

# METADATA
# title: What the caller may do as that user only when signed in
# description: |
#   Like `own`, but an API key never does. A key lives in scripts, and would give away what outlives it.
own_by_token if {
	input.route.access.self_by_token
	input.principal.credential == "token"
	_about_the_caller
	_no_account_named
}

own_by_token if {
	input.route.access.self_by_token
	input.principal.credential == "token"
	_about_the_caller
	_in_the_account
}

# METADATA
# title: What every member of the account may do
fellow_member if {
	input.route.access.member
	_in_the_account
	credential_allows(input.route.effect)
}

# METADATA
# title: May the caller ask about itself?
# description: Whoever it is, in whatever account and with whatever credential; the answer to the question is another matter.
asks_about_itself if {
	input.principal.kind == "user"
	input.route.access.asks_self
	input.target.user != ""
	input.target.user == input.principal.id
}

_about_the_caller if {
	input.principal.kind == "user"
	input.target.user != ""
	input.target.user == input.principal.id
}

_about_the_caller if {
	input.principal.kind == "user"
	input.target.user != ""
	input.target.user == input.principal.uuid
}

_no_account_named if {
	input.account.id == ""
	input.target.account == ""
}

_in_the_account if {
	caller_is_subject
	preconditions_met
}

package authz

# METADATA
# title: What the caller may do as the user whom the request is about
# description: Where no account is named, the caller's own record is all there is to ask. Where one is named, what is refused everywhere is refused here.
own if {
	input.route.access.self
	_about_the_caller
	_no_account_named
	credential_allows(input.route.effect)
}

own if {
	input.route.access.self
	_about_the_caller
	_nothing_denies
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
	_nothing_denies
}

# METADATA
# title: What every member of the account may do
fellow_member if {
	input.route.access.member
	_nothing_denies
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

# That the caller is an active member of an active account is among the refusals.
_nothing_denies if {
	caller_is_subject
	count(refusals) == 0
}

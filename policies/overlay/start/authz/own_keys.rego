package authz

# A key lives in scripts; a project is deleted by a person who is signed in.
deny contains "a project is not deleted with an API key" if {
	input.action.id == "account:project:delete"
	not own_signed_in
}

own_signed_in if input.principal.credential == "token"

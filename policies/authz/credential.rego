package authz

# METADATA
# title: Does the caller's credential allow the verb?
# description: |
#   A token allows everything its user may do. An API key is bounded by its scopes. Anything else
#   allows nothing. The effect of a route, read or write, is asked like a verb.
credential_allows(_) if input.principal.credential == "token"

credential_allows(verb) if {
	input.principal.credential == "key"
	every scope in object.get(_key_scopes, verb, {"write"}) {
		input.principal.key_scopes[scope]
	}
}

# What a key needs for a verb; for any other verb, write.
_key_scopes := {
	"read": {"read"},
	"list": {"read"},
	# In a granted pattern: a caller who gives away all verbs must have them.
	"*": {"read", "write"},
}

# METADATA
# title: Is the caller the user in question?
# description: A caller without an id is nobody, and so is a service that has a user's name.
caller_is_subject if {
	input.principal.kind == "user"
	input.subject.is_caller
}

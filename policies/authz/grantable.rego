package authz

# METADATA
# title: Does the caller itself hold all that it would give away?
# description: |
#   At the place of the grant (the target; no project is account level), through this credential, and not ending
#   before the grant does. The question names no action.
# entrypoint: true
default grantable := {"allow": false, "reason": "the question is incomplete"}

grantable := {"allow": true, "reason": "the caller holds all of it"} if {
	caller_is_subject
	count(input.grant.permissions) > 0
	count(_lacking) == 0
	count(deny) == 0
} else := {"allow": false, "reason": _denial}

# As in decision: of the target only those learn something who hold what they want to give.
_denial := "only a user grants permissions" if not caller_is_subject

else := reason if reason := min(open_refusals)

else := "nothing to grant" if count(input.grant.permissions) == 0

else := concat("", ["the caller does not hold ", pattern]) if pattern := min(_lacking)

else := min(deny)

_lacking contains pattern if {
	some pattern, _ in input.grant.permissions
	not _holds(pattern)
}

_holds(pattern) if {
	[_, _, verb] := split(pattern, ":")
	credential_allows(verb)
	some wider in _generalisations(pattern)
	_held_at_account_level[wider]
}

# What is held in a project is never more than project: and resource: patterns; "*" as a scope has account: in it.
_holds(pattern) if {
	[scope, _, verb] := split(pattern, ":")
	scope in {"project", "resource"}
	credential_allows(verb)
	some wider in _generalisations(pattern)
	_held_in_project[wider]
}

# The patterns that contain this one: each segment itself or "*".
_generalisations(pattern) := {wider |
	[scope, resource, verb] := split(pattern, ":")
	some s in {scope, "*"}
	some r in {resource, "*"}
	some v in {verb, "*"}
	wider := concat(":", [s, r, v])
}

# Once for all patterns of the grant, not once for each.
_held_at_account_level contains pattern if {
	some i in counting
	assignment := input.subject.assignments[i]
	assignment.project == ""
	_outlasts(assignment.expires)
	some pattern, true in permissions(assignment.custom, assignment.role, assignment.role_scope)
}

_held_in_project contains pattern if {
	some i in counting
	assignment := input.subject.assignments[i]
	assignment.project != ""
	_outlasts(assignment.expires)
	some pattern, true in permissions(assignment.custom, assignment.role, assignment.role_scope)
}

_outlasts(expires) if expires == 0

# A grant without an end outlasts every assignment that has one.
_outlasts(expires) if {
	input.grant.until > 0
	expires >= input.grant.until
}

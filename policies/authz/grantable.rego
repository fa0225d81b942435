package authz

# METADATA
# title: Does the caller itself hold all that it would give away?
# description: |
#   At the place of the grant (the target; no project is account level), through this credential,
#   and not ending before the grant does. The question names no action.
# entrypoint: true
default grantable := {"allow": false, "code": "incomplete", "reason": "the question is incomplete"}

grantable := allowed("holds_all", []) if {
	caller_is_subject
	count(input.grant.permissions) > 0
	count(_lacking) == 0
	preconditions_met
}

else := denied("not_a_user", []) if not caller_is_subject

# As in decision: of the target only those learn something who hold what they want to give.
else := refused(min(public_reasons)) if count(public_reasons) > 0

else := denied("nothing_to_grant", []) if count(input.grant.permissions) == 0

else := denied("not_held", [min(_lacking)]) if count(_lacking) > 0

else := refused(min(refusals))

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

# What is held in a project is never more than project: and resource: patterns; "*" as a scope has
# account: in it.
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

_held_at_account_level := {pattern |
	some [level, pattern] in _held
	level == "ACCOUNT"
}

_held_in_project := {pattern | some [_, pattern] in _held}

_held contains [assignment.level, pattern] if {
	some assignment in input.subject.here
	_counts(assignment)
	assignment.outlasts_grant == true
	some pattern, true in _permissions(assignment)
}

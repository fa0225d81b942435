package authz

# METADATA
# title: Does an assignment around the target count?
# description: |
#   It stands at the level of its role's scope, it and its role are active, and it has not ended. A
#   PROJECT role at account level would cover every project: it does not count. A stored record with
#   a blank or unknown value matches nothing here, and the others still do.
_counts(assignment) if {
	assignment.level == assignment.role_scope
	assignment.status == "ACTIVE"
	assignment.role_status == "ACTIVE"
	assignment.running == true
}

# METADATA
# title: The permissions of an assignment's role
# description: |
#   A custom role never borrows a system role's permissions by its id, nor the other way round.
_permissions(assignment) := assignment.permissions if assignment.custom

_permissions(assignment) := data.grants[assignment.role].permissions if {
	assignment.custom == false
	data.grants[assignment.role].scope == assignment.level
}

# METADATA
# title: The role that grants the action
# description: |
#   The smallest id of the granting ones, so that the reason does not depend on the order of
#   records; undefined where no role grants it. `input.subject.here` are the assignments whose place
#   covers the target.
granting_role := min(granting_roles) if input.action.id != ""

# METADATA
# title: All roles that grant the action here
# description: Own rules may ask for one of them by its id.
granting_roles contains assignment.role if {
	some assignment in input.subject.here
	_reaches(assignment.level)
	_counts(assignment)

	# A pattern that contains the action is one of its eight generalisations.
	permissions := _permissions(assignment)
	some pattern in input.action.patterns
	permissions[pattern]
}

# An account action is never granted by what is assigned in a project, whatever patterns a stored
# role claims.
_reaches(_) if input.action.scope in {"project", "resource"}

_reaches("ACCOUNT") if input.action.scope == "account"

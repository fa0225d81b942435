package authz

# METADATA
# title: The assignments that count at the target, by their place in input.subject.assignments
# description: |
#   Active, not expired, of an active role, at the level of the role's scope and where they cover the target.
#   A stored record with a blank or unknown value matches nothing here: it does not count, and the others still do.
#   Each rule starts with the comparison that most records fail, without building or calling anything: this line
#   runs for every assignment of the user.
counting contains i if {
	some i
	input.subject.assignments[i].project == ""
	assignment := input.subject.assignments[i]

	# A PROJECT role at account level would cover every project: it does not count.
	assignment.role_scope == "ACCOUNT"
	assignment.resource == ""
	_in_force(assignment.status, assignment.role_status, assignment.expires)
}

counting contains i if {
	project := _project
	some i
	input.subject.assignments[i].project == project
	assignment := input.subject.assignments[i]
	assignment.role_scope == "PROJECT"
	assignment.resource == ""
	_in_force(assignment.status, assignment.role_status, assignment.expires)
}

# target.resource is the first two segments of the path below the project: equality covers what is below the
# resource, and instances/i-1 never covers instances/i-10.
counting contains i if {
	resource := input.target.resource
	resource != ""
	project := _project
	some i
	input.subject.assignments[i].resource == resource
	assignment := input.subject.assignments[i]
	assignment.project == project
	assignment.role_scope == "RESOURCE"
	_in_force(assignment.status, assignment.role_status, assignment.expires)
}

# An account action is never granted by what is assigned in a project, whatever patterns a stored role claims.
_project := input.target.project if {
	input.target.project != ""
	input.action.scope != "account"
}

_in_force("ACTIVE", "ACTIVE", expires) if expires == 0

# Values of different types have an order in Rego, and any number is less than any string: hence the type checks.
_in_force("ACTIVE", "ACTIVE", expires) if {
	is_number(expires)
	is_number(input.now)
	input.now < expires
}

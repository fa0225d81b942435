package authz

# METADATA
# title: The role that grants the action
# description: |
#   The smallest id of the granting ones, so that the reason does not depend on the order of records; undefined where
#   no role grants it. An assignment counts when its place covers the target, it and its role are active, it has not
#   ended, and it stands at the level of its role's scope. A stored record with a blank or unknown value matches nothing
#   here: it does not count, and the others still do.
#
#   `input.subject.here` are the assignments whose place covers the target, so that a verdict depends on the resource
#   only where the user holds something on that resource. This runs for each of them. Only values are compared and
#   looked up: in OPA that takes three pieces of memory, where a call of a rule or of a function takes ten and a
#   reference into `data` as many.
granting_role := min([assignment.role |
	some assignment in input.subject.here

	# A PROJECT role at account level would cover every project: it does not count.
	assignment.role_scope == assignment.level
	assignment.status == "ACTIVE"
	assignment.role_status == "ACTIVE"
	reach[assignment.level] == true

	# A custom role never borrows a system role's permissions by its id, nor the other way round.
	role := tables[assignment.custom][assignment.role]
	role.scope == assignment.level

	# The action is looked up under its eight generalisations: the size of a role's table does not matter.
	some pattern in input.action.patterns
	role.permissions[pattern] == true

	# Asked last: most assignments do not get here, and nearly all of those that do are running.
	assignment.running == true
]) if {
	# Without an action no role grants anything.
	input.action.id != ""
	tables := {false: data.grants, true: input.subject.roles}

	# An account action is never granted by what is assigned in a project, whatever patterns a stored role claims.
	reach := {
		"account": {"ACCOUNT": true},
		"project": {"ACCOUNT": true, "PROJECT": true, "RESOURCE": true},
		"resource": {"ACCOUNT": true, "PROJECT": true, "RESOURCE": true},
	}[input.action.scope]
}

package authz

# METADATA
# title: The role that grants the action
# description: The smallest id of the granting ones, so that the reason does not depend on the order of records; undefined where no role grants it.
granting_role := min(_granting)

# The action is looked up under its eight generalisations: the size of a role's table does not matter.
_granting contains assignment.role if {
	input.action.id != ""
	some i in counting
	assignment := input.subject.assignments[i]
	held := permissions(assignment.custom, assignment.role, assignment.role_scope)
	some pattern, _ in input.action.patterns
	held[pattern]
}

# METADATA
# title: The permissions of a role
# description: Undefined for a role that is not there, or that has another scope than the assignment says. A custom role never borrows a system role's permissions by its id.
permissions(false, role, role_scope) := data.grants[role].permissions if {
	data.grants[role].scope == role_scope
}

# A custom role's scope stands in the assignment itself.
permissions(true, role, _) := input.subject.roles[role]

# METADATA
# scope: package
# title: The to-do list of the AuthZEN interop scenario
# description: |
#   Its subjects are not users of the platform: they are named by their mail address or by the identity provider's
#   subject. Everybody reads, editors write what is their own, and others write more.
# schemas:
#   - input: schema.app.schema
package apps.todo

types := {"todo", "user"}

default decision := false

decision if {
	input.resource.type == "user"
	input.action.name == "can_read_user"
	_person
}

decision if {
	input.resource.type == "todo"
	input.action.name == "can_read_todos"
	_person
}

decision if {
	input.resource.type == "todo"
	input.action.name == "can_create_todo"
	some role in {"admin", "evil_genius", "editor"}
	_person.roles[role]
}

decision if {
	input.resource.type == "todo"
	some role in object.get(_all, input.action.name, set())
	_person.roles[role]
}

decision if {
	input.resource.type == "todo"
	_all[input.action.name]
	_person.roles.editor
	_owner == _person.mail
}

# The roles whose holders may do it with the to-dos of other users.
_all := {"can_update_todo": {"evil_genius"}, "can_delete_todo": {"admin"}}

_person := data.apps.todo.people[input.subject.id] if input.subject.type == "user"

# The first version of the scenario has the owner beside the properties.
_owner := id if {
	id := input.resource.properties.ownerID
} else := id if {
	id := input.resource.ownerID
}

package apps.todo_test

import data.apps.todo

asks(subject, action, resource) := {"subject": {"type": "user", "id": subject}, "action": {"name": action}, "resource": resource, "context": {}}

mine := {"type": "todo", "id": "t1", "properties": {"ownerID": "morty@the-citadel.com"}}

foreign := {"type": "todo", "id": "t1", "properties": {"ownerID": "rick@the-citadel.com"}}

test_todos[note] if {
	some note, [subject, action, resource, allow] in {
		"an editor's own": ["morty@the-citadel.com", "can_update_todo", mine, true],
		"an editor's own, named beside": ["morty@the-citadel.com", "can_update_todo", {"type": "todo", "ownerID": "morty@the-citadel.com"}, true],
		"of another one": ["morty@the-citadel.com", "can_update_todo", foreign, false],
		"by a genius": ["rick@the-citadel.com", "can_update_todo", mine, true],
		"by a viewer": ["beth@the-smiths.com", "can_update_todo", {"type": "todo", "properties": {"ownerID": "beth@the-smiths.com"}}, false],
		"a new one by a viewer": ["beth@the-smiths.com", "can_create_todo", mine, false],
		"a new one by an editor": ["morty@the-citadel.com", "can_create_todo", mine, true],
		"read by a viewer": ["beth@the-smiths.com", "can_read_todos", mine, true],
		"read by a stranger": ["mallory", "can_read_todos", mine, false],
		"a user by a stranger": ["mallory", "can_read_user", {"type": "user", "id": "x"}, false],
		"a user by a viewer": ["beth@the-smiths.com", "can_read_user", {"type": "user", "id": "x"}, true],
		"without an owner": ["morty@the-citadel.com", "can_update_todo", {"type": "todo", "id": "t1"}, false],
		"what nobody does": ["rick@the-citadel.com", "can_share_todo", mine, false],
	}
	decision := todo.decision with input as asks(subject, action, resource)
	decision == allow
}

# METADATA
# scope: package
# schemas:
#   - data.grants: schema.grants.schema
#   - data.routes: schema.routes.schema
package authz_test

import data.authz

# Data is part of the policy: what is misspelt here would silently grant nothing, or admit nobody.
# Each row is held against it by itself, under the one name that the schema requires; a case of a
# thousand roles would be one long step.
test_data_has_the_form_of_its_schema[table][name] if {
	some table, [required, rows] in {"grants": ["account_admin", data.grants], "routes": ["authorization.check", data.routes]}
	some name, row in rows
	rows[required]
	[true, []] == json.match_schema({required: row}, data.schemas[table])
}

# A built-in looks at all patterns of a role at once: some tree has a hundred thousand of them. The
# schema refuses a text that is no scope at all.
test_system_roles_hold_patterns_of_their_own_scope[role] if {
	some role, row in data.grants
	foreign := object.get({"ACCOUNT": {"*:"}}, row.scope, {"*:", "account:"})
	strings.any_prefix_match(object.keys(row.permissions), foreign) == false
}

# An action that no system role grants is one that nobody can do in a new account.
test_every_action_is_granted_by_some_system_role[name] if {
	some name, row in data.routes
	some_role_grants(action(object.get(row, "action", "account:any:read")).patterns)
}

# A function ends with the first role that does.
some_role_grants(patterns) if {
	some role in data.grants
	some pattern in patterns
	role.permissions[pattern]
}

test_every_route_admits_somebody[name] if {
	some name, row in data.routes
	object.get(row, "access", []) != object.get(row, "action", [])
}

# An agent without a user makes no call, whatever its roles grant and whomever the path names.
test_no_route_admits_an_agent_without_a_user[name] if {
	some name, row in not_public
	words := {word | some word in object.get(row, "access", [])}
	every named in ["", "user-bob-v1", "uuid-bob", "user-alice-v1"] {
		asked := question(object.get(row, "action", "account:any:read"), object.union_n([
			admin,
			about(named),
			route(words, row.effect),
			{"principal": {"kind": "agent", "scopes": {"authz:check": true, "platform:admin": true}}},
		]))
		result := authz.access with input as asked
		result.allow == false
	}
}

not_public[name] := row if {
	some name, row in data.routes
	not "public" in object.get(row, "access", [])
}

# A tree without the file lists nothing.
test_known_actions_have_the_form_of_their_schema if {
	every listed in [data.actions | true] {
		[true, []] == json.match_schema(listed, data.schemas.actions)
	}
}

# METADATA
# scope: package
# schemas:
#   - data.grants: schema.grants.schema
#   - data.routes: schema.routes.schema
package authz_test

# Data is part of the policy: what is misspelt here would silently grant nothing, or admit nobody.
test_data_has_the_form_of_its_schema[name] if {
	some name, value in {"grants": data.grants, "routes": data.routes}
	[true, []] == json.match_schema(value, data.schemas[name])
}

test_system_roles_hold_patterns_of_their_own_scope[role] if {
	some role, _ in data.grants
	allowed_scopes := object.get({"ACCOUNT": {"account", "project", "resource"}}, data.grants[role].scope, {"project", "resource"})
	every pattern, _ in data.grants[role].permissions {
		split(pattern, ":")[0] in allowed_scopes
	}
}

# An action that no system role grants is one that nobody can do in a new account.
test_every_action_is_granted_by_some_system_role[name] if {
	some name, row in data.routes
	asked := action(object.get(row, "action", "account:any:read"))
	granted := {role |
		some role, _ in data.grants
		some pattern in asked.patterns
		data.grants[role].permissions[pattern]
	}
	count(granted) > 0
}

test_every_route_admits_somebody[name] if {
	some name, row in data.routes
	object.get(row, "access", []) != object.get(row, "action", [])
}

package authz

# METADATA
# title: The scope by which a service may make the request
# description: The smallest that is enough; undefined for a user, whatever scopes it claims.
service_scope := min(_sufficient)

_sufficient contains scope if {
	input.principal.kind == "service"
	some scope, true in input.principal.scopes
	input.route.access[concat(":", ["service", scope])]
	_open_to_services
}

# In a suspended account services stop too, but for those that can put it in order.
_open_to_services if input.account.status == "ACTIVE"

# No account is named, or it is one that does not exist yet: there is nothing to be suspended.
_open_to_services if input.account.exists == false

_open_to_services if input.principal.scopes["platform:admin"]

_open_to_services if input.principal.scopes["users:sync"]

# To ask is not to act: what is asked about a suspended account is answered with a deny.
_open_to_services if input.route.access.asks_self

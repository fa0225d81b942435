package authz

# METADATA
# title: What is refused whatever the roles grant
# description: |
#   The place for rules of one's own: each that fires wins over every grant. What must hold of every question stands
#   in `in_order`, so a rule here need not repeat it. A rule that begins with the equality of an input with a constant
#   costs the questions it is not about nothing.
deny contains suspended if {
	input.account.status == "SUSPENDED"
	_active_member
}

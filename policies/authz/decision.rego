# METADATA
# scope: package
# title: Portcullis authorization
# description: Who may do what, as a pure function of input and data. No rule looks at a clock, a network or a store.
# schemas:
#   - input: schema.input.schema
#   - data.grants: schema.grants.schema
package authz

# METADATA
# title: May the subject do the action on the target?
# description: The answer of E3. Denied unless a role grants it and no deny rule fires.
# entrypoint: true
default decision := {"allow": false, "reason": "the question is incomplete"}

decision := {"allow": true, "reason": reason} if {
	count(deny) == 0
	reason := concat("", ["role ", granting_role, " grants ", input.action.id])
} else := {"allow": false, "reason": _refusal}

# Who has no role for this learns nothing of the target: whether the project exists, say, is told only
# to those whom a role would let in. Of several reasons the smallest, so that equal questions have equal answers.
_refusal := reason if reason := min(open_refusals)

else := min(deny) if granting_role

else := no_role

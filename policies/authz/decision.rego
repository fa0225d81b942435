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
# description: |
#   The answer of E3. Denied unless the question is in order, which includes that no deny rule fires, and a role grants
#   the action.
#   The first two answers are those of nearly every request, and cost little: no refusal is looked for on the way.
# entrypoint: true
default decision := {"allow": false, "reason": "the question is incomplete"}

decision := {"allow": true, "reason": sprintf("role %s grants %s", [granting_role, action])} if {
	action := in_order
} else := {"allow": false, "reason": no_role} if {
	in_order == input.action.id
} else := {"allow": false, "reason": _refusal}

# Who has no role for this learns nothing of the target: whether the project exists, say, is told only
# to those whom a role would let in. Of several reasons the smallest, so that equal questions have equal answers.
_refusal := reason if reason := min(open_refusals)

else := min(refusals) if granting_role

else := no_role

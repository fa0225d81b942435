# METADATA
# scope: package
# title: Portcullis authorization
# description: |
#   Decides whether a user may do an action, as a pure function of input and data. No rule looks at
#   a clock, a network or a store.
# schemas:
#   - input: schema.input.schema
#   - data.grants: schema.grants.schema
package authz

# METADATA
# title: May the subject do the action on the target?
# description: |
#   The answer of authorization.check. Denied unless all conditions hold, no deny rule fires, and a
#   role grants the action.
# entrypoint: true
default decision := {"allow": false, "code": "incomplete", "reason": "the question is incomplete"}

decision := allowed("role", [granting_role]) if preconditions_met

else := reason_no_role if preconditions_met

# A user without a role for this learns nothing of the target: whether the project exists, say, is
# told only to those whom a role would let in.
else := refused(min(public_reasons)) if count(public_reasons) > 0

else := refused(min(refusals)) if granting_role

else := reason_no_role

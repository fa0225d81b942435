package authz

# METADATA
# title: The action, where the question is one that a role may answer
# description: |
#   All that must hold whatever the roles grant, said positively: a value that is missing leaves this undefined,
#   which denies. Nothing here is negated or searched, since it runs on every request; why a question is not
#   in order is found out by `refusals`, for those that are refused. Bare values are compared with true: OPA makes
#   a variable for each bare one. The value is the action and not `true`, since a rule of one constant value is left
#   by an error as soon as it holds, and OPA makes one for each built-in call on the way out.
in_order := action if {
	input.subject.id != ""
	input.subject.exists == true
	input.subject.status == "ACTIVE"
	input.subject.member == true
	input.account.id != ""
	input.account.exists == true
	input.account.status == "ACTIVE"
	action := input.action.id
	action != ""
	some account in ["", input.account.id]
	input.target.account == account

	# By the state of the target's project and the scope of the action, whether a project is named there. An account
	# action is not asked on a project, and a project that is not active fits nothing.
	project_named := input.target.project != ""
	fits := {
		"": {"account": false, "project": false, "resource": false},
		"active": {"project": true, "resource": true},
	}
	fits[input.target.project_state][input.action.scope] == project_named
	within_credential == true

	# A deny rule that fires wins over every grant.
	deny == set()
}

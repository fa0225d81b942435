package authz

# METADATA
# title: Conditions that must hold of every question, whatever the roles grant
# description: |
#   The one list of it. Each code has a text in `reason_texts`, for where the condition does not
#   hold, and a rule `met contains "<code>"` that says when it holds. A code without such a rule
#   never holds, which denies every question.
condition_codes contains "needs_active_member"

condition_codes contains "needs_active_account"

condition_codes contains "needs_same_account"

condition_codes contains "needs_account_level"

condition_codes contains "needs_active_project"

condition_codes contains "needs_credential_scope"

# They hold of every question without an agent.
condition_codes contains "needs_registered_agent"

condition_codes contains "needs_active_agent"

condition_codes contains "needs_delegation"

# METADATA
# title: Does every condition hold, and does no deny rule fire?
# description: |
#   `decision` and `grantable` allow nothing without it, nor does `access` by a role, to a member,
#   or as oneself where an account is named. Routes that are public, a service's, or for asking
#   about oneself ask for less.
preconditions_met if {
	met == condition_codes
	not _a_deny_rule_fires
}

# The rules `deny contains "<reason>"` of a tree. This one has none, so that `data.authz.deny` is
# undefined here. Whatever else somebody makes of `deny`, such as a rule that is true, denies too.
_a_deny_rule_fires if data.authz.deny != set()

unmet := condition_codes - met

# METADATA
# title: Each condition, with whether it holds
# description: |
#   To explain an answer. It says more than the answer itself, as whether a project exists, and so
#   is not for everybody: `public_reasons` are.
conditions[code] := {"holds": code in met, "says": reason_texts[code]} if {
	some code in condition_codes
}

met contains "needs_active_member" if {
	input.subject.named
	input.subject.exists
	input.subject.status == "ACTIVE"
	input.subject.member
	input.account.named
	input.account.exists
}

met contains "needs_active_account" if input.account.status == "ACTIVE"

met contains "needs_same_account" if input.target.same_account

met contains "needs_account_level" if input.action.scope != "account"

met contains "needs_account_level" if input.target.level == "account"

met contains "needs_active_project" if {
	input.target.level in {"project", "resource"}
	input.target.project_state == "active"
}

# A state without a project is a contradiction, which meets nothing.
met contains "needs_active_project" if {
	input.target.level == "account"
	input.target.project_state == ""
}

met contains "needs_credential_scope" if _credential_suffices

met contains "needs_registered_agent" if input.agent.named == false

met contains "needs_registered_agent" if input.agent.exists

met contains "needs_active_agent" if input.agent.named == false

met contains "needs_active_agent" if input.agent.status == "ACTIVE"

met contains "needs_delegation" if input.agent.named == false

met contains "needs_delegation" if input.agent.delegation_covers

# A question without an action is one of `access` or `grantable`, which ask the credential
# themselves.
_credential_suffices if input.action.id == ""

# A service, or a user asking about another one, asks what the other may do, not through which
# credential.
_credential_suffices if input.principal.kind == "service"

_credential_suffices if input.principal.kind == "none"

_credential_suffices if {
	input.principal.kind == "user"
	input.subject.named
	input.subject.is_caller == false
}

_credential_suffices if credential_allows(input.action.verb)

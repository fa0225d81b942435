package authz

# METADATA
# title: All that speaks against the question
# description: |
#   The deny rules, and for each condition of `in_order` why it does not hold. Each rule is written as `not` of what
#   must hold: a value that is missing then refuses.
refusals contains reason if some reason in deny

refusals contains not_a_member if not _active_member

# Only a member is told that the account is suspended; to others it is an account like any other.
refusals contains suspended if {
	_active_member
	not _account_active
}

refusals contains other_account if not _path_in_account

refusals contains "an account action is not asked on a project" if not _action_fits_target

# The same for a project that does not exist, another account's, and one that is being deleted.
refusals contains "the project is not an active project of the account" if not _project_active

# Without an action no role grants anything; self-service and grantable ask the credential themselves.
refusals contains "the scopes of the credential do not allow this" if {
	input.action.id != ""
	not within_credential
}

_active_member if {
	input.subject.id != ""
	input.subject.exists
	input.subject.status == "ACTIVE"
	input.subject.member
	input.account.id != ""
	input.account.exists
}

_account_active if input.account.status == "ACTIVE"

_path_in_account if input.target.account == ""

_path_in_account if input.target.account == input.account.id

_action_fits_target if input.action.scope != "account"

_action_fits_target if input.target.project == ""

_project_active if input.target.project == ""

_project_active if input.target.project_state == "active"

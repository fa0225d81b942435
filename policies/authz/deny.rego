package authz

# METADATA
# title: What is refused whatever the roles grant
# description: |
#   Each rule is written as `not` of a condition that must hold: a value that is missing then denies.
#   The other way round, a missing value would leave the deny rule undefined, which allows.
deny contains not_a_member if not _active_member

# Only a member is told that the account is suspended; to others it is an account like any other.
deny contains suspended if {
	_active_member
	not _account_active
}

deny contains other_account if not _path_in_account

deny contains "an account action is not asked on a project" if not _action_fits_target

# The same for a project that does not exist, another account's, and one that is being deleted.
deny contains "the project is not an active project of the account" if not _project_active

deny contains "the scopes of the credential do not allow this" if not _within_credential

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

# A service, or a user asking about another one, asks what the other may do, not through which key.
_within_credential if input.principal.kind in {"service", "none"}

_within_credential if input.principal.id != input.subject.id

_within_credential if credential_allows(input.action.verb)

# Without an action no role grants anything; self-service and grantable ask the credential themselves.
_within_credential if input.action.id == ""

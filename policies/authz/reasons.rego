package authz

# METADATA
# title: What is said where a condition does not hold
condition_texts := {
	"needs_active_member": "the user is not an active member of the account",
	"needs_active_account": "the account is suspended",
	"needs_same_account": "the path names another account",
	"needs_account_level": "an account action is not asked on a project",
	# The same for a project that does not exist, another account's, and one that is being deleted.
	"needs_active_project": "the project is not an active project of the account",
	"needs_credential_scope": "the scopes of the credential do not allow this",
}

# METADATA
# title: All that speaks against the question
# description: The deny rules that fire, and each condition that does not hold.
refusals contains reason if some reason in data.authz.deny

refusals contains condition_texts[code] if some code in (unmet - _untold)

# Only a member is told that the account is suspended; to others it is an account like any other.
_untold contains "needs_active_account" if "needs_active_member" in unmet

# METADATA
# title: The refusals that may be told to anybody
# description: They say nothing of what exists. The reason of any other refusal is told only to those whom a role would let in.
public_reasons := refusals & {condition_texts[code] | some code in {"needs_active_member", "needs_active_account", "needs_same_account"}}

# METADATA
# title: The reason where no role grants the action
# description: Made of the question alone, so that it is the same whether what it names exists or not.
reason_no_role := sprintf("no active role of the user grants %s in %s", [input.action.id, input.target.project]) if {
	input.target.project != ""
} else := sprintf("no active role of the user grants %s in %s", [input.action.id, input.account.id]) if {
	input.account.id != ""
} else := sprintf("no active role of the user grants %s in no account", [input.action.id])

package authz

# METADATA
# title: Every reason that this tree gives, by its code
# description: |
#   The codes are a closed list: tests, metrics and the services that ask go by them, people read
#   the texts. The gateway puts the question's own values into the places in braces: {action},
#   {place} (the project, else the account), {account}, {project}, {resource} and {user}. What a
#   rule has found takes the place of %s. Each stands on one line, so that one can be replaced.

# Conditions that do not hold.
reason_texts["needs_active_member"] := "the user is not an active member of the account"

reason_texts["needs_active_account"] := "the account is suspended"

reason_texts["needs_same_account"] := "the path names another account"

reason_texts["needs_account_level"] := "an account action is not asked on a project"

# The same for a project that does not exist, another account's, and one that is being deleted.
reason_texts["needs_active_project"] := "the project is not an active project of the account"

reason_texts["needs_credential_scope"] := "the scopes of the credential do not allow this"

reason_texts["needs_registered_agent"] := "the account has not registered the agent"

reason_texts["needs_active_agent"] := "the agent is suspended"

reason_texts["needs_delegation"] := "the user has not delegated {action} to the agent in {place}"

# Other denials.
reason_texts["incomplete"] := "the question is incomplete"

reason_texts["deny_rule"] := "%s"

reason_texts["no_role"] := "no active role of the user grants {action} in {place}"

reason_texts["no_credential"] := "this needs a credential"

reason_texts["no_service_scope"] := "no scope of the service allows this"

reason_texts["not_own"] := "this is not the caller's"

reason_texts["not_a_user"] := "only a user grants permissions"

reason_texts["nothing_to_grant"] := "nothing to grant"

reason_texts["not_held"] := "the caller does not hold %s"

# What allows.
reason_texts["role"] := "role %s grants {action}"

reason_texts["public"] := "the route is public"

reason_texts["service_scope"] := "the scope %s allows this"

reason_texts["asks_self"] := "the caller asks about itself"

reason_texts["self"] := "this is the caller's own"

reason_texts["self_by_token"] := "this is the caller's own, by token"

reason_texts["member"] := "the caller is a member of the account"

reason_texts["holds_all"] := "the caller holds all of it"

# METADATA
# title: The answers
# description: The value of an entry point, made of a code and of the values for its text.
allowed(code, values) := {
	"allow": true,
	"code": code,
	"reason": sprintf(reason_texts[code], values),
}

denied(code, values) := {
	"allow": false,
	"code": code,
	"reason": sprintf(reason_texts[code], values),
}

# METADATA
# title: All that speaks against the question, as pairs of reason and code
# description: |
#   The deny rules that fire, and each condition that does not hold. Of several the one with the
#   smallest reason is told, so that equal questions have equal answers.
refusals contains [reason, "deny_rule"] if some reason in data.authz.deny

refusals contains [reason_texts[code], code] if some code in (unmet - _untold)

# Only a member is told that the account is suspended; to others it is an account like any other.
_untold contains "needs_active_account" if "needs_active_member" in unmet

# METADATA
# title: The refusals that may be told to anybody
# description: |
#   They say nothing of what exists. Any other refusal is told only to those whom a role would let
#   in.
public_reasons contains [reason, code] if {
	some [reason, code] in refusals
	code in {"needs_active_member", "needs_active_account", "needs_same_account"}
}

# METADATA
# title: The denial for one of the refusals
refused([reason, code]) := {"allow": false, "code": code, "reason": reason}

# METADATA
# title: The denial where no role grants the action
# description: |
#   Made of the question alone, so that it is the same whether what it names exists or not.
reason_no_role := denied("no_role", []) if is_string(input.action.id)

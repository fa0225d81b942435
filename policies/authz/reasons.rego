package authz

not_a_member := "the user is not an active member of the account"

suspended := "the account is suspended"

other_account := "the path names another account"

# METADATA
# title: The refusals that may be told to anybody
# description: They say nothing of what exists. The reason of any other refusal is told only to those whom a role would let in.
open_refusals := refusals & {not_a_member, suspended, other_account}

# METADATA
# title: The reason where no role grants the action
# description: Made of the question alone, so that it is the same whether what it names exists or not.
no_role := sprintf("no active role of the user grants %s in %s", [input.action.id, input.target.project]) if {
	input.target.project != ""
} else := sprintf("no active role of the user grants %s in %s", [input.action.id, input.account.id]) if {
	input.account.id != ""
} else := sprintf("no active role of the user grants %s in no account", [input.action.id])

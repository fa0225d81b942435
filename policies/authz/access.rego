package authz

# METADATA
# title: May the caller make this request?
# description: |
#   The enforcement of a route. input.subject holds the caller's own facts in the account in
#   question. Any one word of the route's access list is enough, and so is a role.
# entrypoint: true
default access := {"allow": false, "code": "incomplete", "reason": "the question is incomplete"}

# Public means public: a suspended account named in passing changes nothing, and so is not given
# away.
access := allowed("public", []) if input.route.access.public

else := allowed("service_scope", [service_scope]) if service_scope

else := allowed("asks_self", []) if asks_self_allowed

else := allowed("self", []) if self_allowed

else := allowed("self_by_token", []) if self_by_token_allowed

else := allowed("member", []) if member_allowed

else := decision if {
	caller_is_subject
	decision.allow
}

# One text for what exists and what does not; only a member learns that the account is suspended.
else := denied("needs_active_account", []) if {
	caller_is_subject
	[reason_texts.needs_active_account, "needs_active_account"] in refusals
}

else := refused(min(_denials)) if count(_denials) > 0

else := reason_no_role if {
	input.principal.kind == "user"
	input.action.id != ""
}

else := denied(_code_for_kind[input.principal.kind], [])

_code_for_kind := {
	"user": "not_own", "service": "no_service_scope", "none": "no_credential",
	"agent": "not_own",
}

# The deny rules that fire, for a caller who can ask `decision` about itself: it tells of them those
# whom a role would let in, and of public ones anybody.
_denials contains [reason, "deny_rule"] if {
	caller_is_subject
	some [reason, "deny_rule"] in public_reasons
}

_denials contains [reason, "deny_rule"] if {
	caller_is_subject
	granting_role
	some [reason, "deny_rule"] in refusals
}

package authz

# METADATA
# title: May the caller make this request?
# description: The enforcement of a route. input.subject holds the caller's own facts in the account in question.
# entrypoint: true
default access := {"allow": false, "reason": "the question is incomplete"}

access := {"allow": true, "reason": _admission} if {
	_admission
} else := {"allow": false, "reason": _rejection}

# Any one is enough; the cheap ones come first, so that the roles are looked at only where they decide.
# Public means public: a suspended account named in passing changes nothing, and so is not given away.
_admission := "the route is public" if input.route.access.public

else := concat("", ["the scope ", service_scope, " allows this"]) if service_scope

else := "the caller asks about itself" if asks_self_allowed

else := "this is the caller's own" if self_allowed

else := "this is the caller's own, by token" if self_by_token_allowed

else := "the caller is a member of the account" if member_allowed

else := decision.reason if {
	input.action.id != ""
	caller_is_subject
	decision.allow
}

# One text for what exists and what does not; only a member learns that the account is suspended.
_rejection := condition_texts.needs_active_account if {
	caller_is_subject
	condition_texts.needs_active_account in refusals
}

else := reason_no_role if {
	input.principal.kind == "user"
	input.action.id != ""
}

else := _rejections[input.principal.kind]

_rejections := {
	"user": "this is not the caller's",
	"service": "no scope of the service allows this",
	"none": "this needs a credential",
}

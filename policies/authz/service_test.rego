package authz_test

import data.authz

by_service(scopes, kinds, difference) := input_of([base, account_level, service(scopes), route(kinds, "write"), difference])

test_services_are_given_what_their_scope_names[note] if {
	some note, case in {
		"the one scope": [{"platform:admin"}, {"service:platform:admin"}, {}, "platform:admin"],
		"one of several": [{"authz:check", "users:sync"}, {"self", "service:users:sync"}, {}, "users:sync"],
		"the smallest of two": [
			{"users:sync", "platform:admin"},
			{"service:users:sync", "service:platform:admin"}, {}, "platform:admin",
		],
		"an active account": [{"authz:check"}, {"service:authz:check"}, {}, "authz:check"],
		"an account that is not there": [
			{"authz:check"},
			{"service:authz:check"},
			{"account": {"exists": false, "status": ""}}, "authz:check",
		],
		"no account": [{"users:sync"}, {"service:users:sync"}, no_account, "users:sync"],
		"an account to be made": [{"platform:admin"}, {"service:platform:admin"}, {"account": {"exists": false, "status": ""}}, "platform:admin"],
		"a suspended account": [{"platform:admin"}, {"service:platform:admin"}, {"account": {"status": "SUSPENDED"}}, "platform:admin"],
		"users of a suspended account": [{"users:sync"}, {"service:users:sync"}, {"account": {"status": "SUSPENDED"}}, "users:sync"],
		"asking about a suspended account": [
			{"authz:check"},
			{"asks_self", "service:authz:check"},
			{"account": {"status": "SUSPENDED"}}, "authz:check",
		],
	}
	given_access(by_service(case[0], case[1], case[2]), concat("", ["the scope ", case[3], " allows this"]))
}

test_services_are_refused[note] if {
	some note, case in {
		"no scope": [set(), {"service:platform:admin"}, {}],
		"another scope": [{"authz:check"}, {"service:platform:admin"}, {}],
		"a scope in other letters": [{"Platform:Admin"}, {"service:platform:admin"}, {}],
		"part of a scope": [{"platform"}, {"service:platform:admin"}, {}],
		"a blank scope": [{""}, {"service:platform:admin", "service:", "service"}, {"principal": {"scopes": {"": false}}}],
		"a scope that is switched off": [set(), {"service:users:sync"}, {"principal": {"scopes": {"users:sync": false}}}],
		"a route for users": [{"platform:admin"}, {"self", "member", "asks_self"}, {}],
		"another scope in a suspended account": [{"authz:check"}, {"service:authz:check"}, {"account": {"status": "SUSPENDED"}}],
		"an account of unknown state": [{"authz:check"}, {"service:authz:check"}, {"account": {"status": ""}}],
	}
	refused_access(by_service(case[0], case[1], case[2]), "no_service_scope")
}

test_scopes_are_for_services[kind] if {
	some kind in {"user", "none"}
	asked := by_service({"platform:admin"}, {"service:platform:admin"}, {"principal": {"kind": kind}})
	result := authz.access with input as asked
	result.allow == false
}

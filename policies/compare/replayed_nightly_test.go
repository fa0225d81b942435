//go:build nightly

package compare_test

// foretoldContexts is of how many contexts TestAReplayFindsWhatWasForetold asks all that a user may hold, at each entry point.
const foretoldContexts = 60

func moreReplayedEdits() []edit {
	const head = "# METADATA\n# title: May the subject"
	return []edit{
		{"a status that is not asked for", "authz/conditions.rego", "\tinput.subject.status == \"ACTIVE\"\n", "", true},
		{"a deny rule", "authz/decision.rego", head, "deny contains \"no deleting\" if input.action.verb == \"delete\"\n\n" + head, true},
		{"a pattern more", "grants/data.json", `"account:user:read": true`, `"account:user:read": true, "account:user:update": true`, true},
		{"a pattern less", "grants/data.json", `"project:*:read": true`, `"project:nothing:read": true`, true},
		{"one user more", "authz/credential.rego", "credential_allows(_) if input.principal.credential == \"token\"", "credential_allows(_) if input.principal.credential == \"token\"\n\ncredential_allows(_) if input.principal.id == \"user-mallory-v1\"", true},
		{"an access word less", "routes/data.json", `"access": ["self", "service:users:sync"]`, `"access": ["self"]`, true},
		{"another effect", "routes/data.json", `"effect": "read"`, `"effect": "write"`, true},
		{"another text", "authz/reasons.rego", "\"the account is suspended\"", "\"the account is not active\"", false},
		{"keys that write by reading", "authz/credential.rego", "object.get(_key_scopes, verb, {\"write\"})", "object.get(_key_scopes, verb, {\"read\"})", true},
	}
}

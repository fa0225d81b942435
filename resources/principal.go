package resources

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Kinds of principal.
const (
	PrincipalNone    = "none"
	PrincipalUser    = "user"
	PrincipalService = "service"
	// PrincipalAgent is an agent that acts for nobody. Policy lets it make no call: it acts at MCP servers that take agents
	// without a user.
	PrincipalAgent = "agent"
	// PrincipalGateway is the gateway itself, as its upstreams see it. No credential of a
	// caller gives this kind.
	PrincipalGateway = "gateway"
)

// Kinds of credential.
const (
	CredentialNone  = "none"
	CredentialToken = "token"
	CredentialKey   = "key"
)

// Scopes of a service's token (API contract, 2).
const (
	ServiceScopeCheck    = "authz:check"
	ServiceScopeExplain  = "authz:explain"
	ServiceScopeAdmin    = "platform:admin"
	ServiceScopeUsers    = "users:sync"
	ServiceScopeClusters = "clusters:provision"
	ServiceScopeConsole  = "console:sessions"
)

// ServiceScopes returns all scopes of a service's token.
func ServiceScopes() []string {
	return []string{ServiceScopeCheck, ServiceScopeExplain, ServiceScopeAdmin, ServiceScopeUsers, ServiceScopeClusters, ServiceScopeConsole}
}

// maxSubject bounds a subject in bytes (OpenID Connect, "sub").
const maxSubject = 255

// ValidSubject says whether s can be the subject of a token: 1 to 255 bytes of visible text
// without spaces around it. Invisible characters would make two subjects look the same to an
// operator.
func ValidSubject(s string) bool {
	return s != "" && len(s) <= maxSubject && utf8.ValidString(s) && strings.Trim(s, " ") == s && !strings.ContainsFunc(s, Unseen)
}

// Principal is the caller, as their credential proves. The zero value is an anonymous caller,
// who has no permissions.
type Principal struct {
	// Kind is user, service, agent or none.
	Kind string
	// ID is the user's external id, the service's subject or the agent's id.
	ID string
	// UUID is the user's internal id.
	UUID string
	// AccountID is the account of the user or the agent, "" for none.
	AccountID string
	// Scopes holds the scopes of a service's token.
	Scopes []string
	// Credential is token, key or none.
	Credential string
	// KeyScopes holds the scopes of the API key.
	KeyScopes []string
	// KeyID is the id of the API key's record, not secret; "" for another credential.
	KeyID string
	// Client is the client of a token, nil for any other credential. Nothing changes it.
	Client *Client
}

// HasScope says whether the principal is a service with the scope.
func (p Principal) HasScope(scope string) bool {
	return p.Kind == PrincipalService && slices.Contains(p.Scopes, scope)
}

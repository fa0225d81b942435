package resources

import (
	"strings"
	"unicode/utf8"
)

// Kinds of principal.
const (
	PrincipalNone    = "none"
	PrincipalUser    = "user"
	PrincipalService = "service"
	// PrincipalGateway is the gateway itself, to its upstreams; nobody signs in as it.
	PrincipalGateway = "gateway"
)

// Kinds of credential.
const (
	CredentialNone  = "none"
	CredentialToken = "token"
	CredentialKey   = "key"
)

// Scopes that a service's token may carry (API contract, 2).
const (
	ServiceScopeCheck = "authz:check"
	ServiceScopeAdmin = "platform:admin"
	ServiceScopeUsers = "users:sync"
)

// maxSubject bounds a subject in bytes (OpenID Connect, "sub").
const maxSubject = 255

// ValidSubject says whether s can be whom a token is about: text that is seen, with no space
// around it. Two subjects of which one looks like the other, or like none, are two to a
// program and one to an operator.
func ValidSubject(s string) bool {
	return s != "" && len(s) <= maxSubject && utf8.ValidString(s) && strings.Trim(s, " ") == s && !strings.ContainsFunc(s, Unseen)
}

// Principal is who is calling, as proved by a credential. The zero value is
// nobody, and nobody may do nothing.
type Principal struct {
	// Kind is user, service or none.
	Kind string
	// ID is the user's external id, or the service's subject.
	ID string
	// UUID is the user's internal id.
	UUID string
	// AccountID is the account of which the user is a member; "" is none.
	AccountID string
	// Scopes are a service's.
	Scopes []string
	// Credential is token, key or none; KeyScopes bound a key's owner.
	Credential string
	KeyScopes  []string
	// KeyID is the id of the key's record, which is no secret; "" for another credential.
	KeyID string
}

// HasScope says whether a service holds the scope.
func (p Principal) HasScope(scope string) bool {
	if p.Kind != PrincipalService {
		return false
	}
	for _, s := range p.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}

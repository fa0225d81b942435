package authn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
)

// leeway is how far the clocks of issuer and gateway may differ.
const leeway = 30 * time.Second

// Subjects says what the subjects of an issuer's tokens name.
type Subjects string

// What a subject may be looked up as.
const (
	SubjectsExternalID Subjects = "external_id"
	SubjectsPartnerID  Subjects = "partner_id"
	SubjectsBoth       Subjects = "both"
)

// Services says whether an issuer's tokens may be a service's (`sub` begins with
// resources.ServicePrefix), and which scopes they have at most.
type Services struct {
	Allowed bool
	Scopes  []string
}

// Issuer is one trusted maker of tokens. All fields but Services are needed.
type Issuer struct {
	// Issuer and Audience are compared with `iss` and `aud` byte for byte.
	Issuer, Audience string
	// Keys is a *URLSource, a *FileSource, a *Signer, or a KeySet.
	Keys     KeySource
	Subjects Subjects
	Services Services
}

// trusted is an issuer with the parser that holds its checks.
type trusted struct {
	Issuer
	parser *jwt.Parser
}

// trust checks the settings; the error is one line for the operator.
func trust(i Issuer, now func() time.Time) (*trusted, error) {
	switch {
	case strings.TrimSpace(i.Issuer) == "":
		return nil, fmt.Errorf("issuer: the name is empty: any issuer would be accepted; give the exact `iss` of its tokens")
	case strings.TrimSpace(i.Audience) == "":
		return nil, fmt.Errorf("issuer %q: the audience is empty: tokens for other services would be accepted; give the `aud` of tokens for this one", i.Issuer)
	case i.Keys == nil:
		return nil, fmt.Errorf("issuer %q: no keys to check its tokens with; give a JWKS URL or a JWKS file", i.Issuer)
	}
	if set, ok := i.Keys.(KeySet); ok && set.Len() == 0 {
		return nil, fmt.Errorf("issuer %q: its key set is empty", i.Issuer)
	}
	switch i.Subjects {
	case SubjectsExternalID, SubjectsPartnerID, SubjectsBoth:
	default:
		return nil, fmt.Errorf("issuer %q: subjects must be external_id, partner_id or both, not %q", i.Issuer, i.Subjects)
	}
	if err := checkServices(i.Services); err != nil {
		return nil, fmt.Errorf("issuer %q: services: %w", i.Issuer, err)
	}
	i.Services.Scopes = slices.Compact(slices.Sorted(slices.Values(i.Services.Scopes)))
	return &trusted{Issuer: i, parser: jwt.NewParser(
		jwt.WithValidMethods(algorithms()),
		jwt.WithStrictDecoding(),
		jwt.WithIssuer(i.Issuer),
		jwt.WithAudience(i.Audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(now),
	)}, nil
}

func checkServices(s Services) error {
	if s.Allowed != (len(s.Scopes) > 0) {
		return fmt.Errorf("to allow them, name the scopes that they may have at most; to forbid them, name none")
	}
	for _, scope := range s.Scopes {
		if !slices.Contains(serviceScopes(), scope) {
			return fmt.Errorf("unknown scope %q; the scopes are %s", scope, strings.Join(serviceScopes(), ", "))
		}
	}
	return nil
}

func serviceScopes() []string {
	return []string{resources.ServiceScopeCheck, resources.ServiceScopeAdmin, resources.ServiceScopeUsers}
}

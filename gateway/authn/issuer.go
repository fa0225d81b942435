package authn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/portcullis-authz/portcullis/resources"
)

// leeway is how far the clocks of an issuer and the gateway may differ.
const leeway = 30 * time.Second

// Subjects is the kind of id that the subjects of an issuer's tokens are.
type Subjects string

// The kinds of subjects.
const (
	SubjectsExternalID Subjects = "external_id"
	SubjectsPartnerID  Subjects = "partner_id"
	SubjectsBoth       Subjects = "both"
)

// Services states whether an issuer's tokens may be a service's (`sub` begins with
// resources.ServicePrefix), and the scopes that such a token may have.
type Services struct {
	Allowed bool
	Scopes  []string
}

// Issuer is a trusted issuer of tokens. All fields but Services and Apps are required.
type Issuer struct {
	// Issuer and Audience are compared with `iss` and `aud` byte for byte.
	Issuer, Audience string
	// Keys is a *URLSource, a *FileSource, a *Signer, or a KeySet.
	Keys     KeySource
	Subjects Subjects
	Services Services
	// Apps are the clients of the operator's own applications.
	Apps []string
}

// trusted is an issuer with its token parser.
type trusted struct {
	Issuer
	parser *jwt.Parser
}

// trust checks the settings of an issuer. The error is one line for the operator.
func trust(i Issuer, now func() time.Time) (*trusted, error) {
	switch {
	case strings.TrimSpace(i.Issuer) == "":
		return nil, fmt.Errorf("issuer: the name is empty, so that any issuer would be accepted; set it to the exact `iss` of its tokens")
	case strings.TrimSpace(i.Audience) == "":
		return nil, fmt.Errorf("issuer %q: the audience is empty, so that tokens for other services would be accepted; set it to the `aud` of tokens for this service", i.Issuer)
	case i.Keys == nil:
		return nil, fmt.Errorf("issuer %q: has no keys; set a JWKS URL or a JWKS file", i.Issuer)
	}
	if set, ok := i.Keys.(KeySet); ok && set.Len() == 0 {
		return nil, fmt.Errorf("issuer %q: the key set is empty; publish at least one key", i.Issuer)
	}
	switch i.Subjects {
	case SubjectsExternalID, SubjectsPartnerID, SubjectsBoth:
	default:
		return nil, fmt.Errorf("issuer %q: subjects must be external_id, partner_id or both, not %q", i.Issuer, i.Subjects)
	}
	if err := checkServices(i.Services); err != nil {
		return nil, fmt.Errorf("issuer %q: services: %w", i.Issuer, err)
	}
	for n, app := range i.Apps {
		if !resources.ValidSubject(app) || slices.Contains(i.Apps[:n], app) {
			return nil, fmt.Errorf("issuer %q: apps: %q is blank, padded or named twice; name each client id once", i.Issuer, app)
		}
	}
	i.Services.Scopes = slices.Compact(slices.Sorted(slices.Values(i.Services.Scopes)))
	return &trusted{Issuer: i, parser: jwt.NewParser(
		jwt.WithValidMethods(algorithms()),
		jwt.WithStrictDecoding(),
		jwt.WithIssuer(i.Issuer),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(now),
	)}, nil
}

func checkServices(s Services) error {
	if s.Allowed != (len(s.Scopes) > 0) {
		return fmt.Errorf("scopes must be named if services are allowed, and only then")
	}
	for _, scope := range s.Scopes {
		if !slices.Contains(resources.ServiceScopes(), scope) {
			return fmt.Errorf("unknown scope %q; the scopes are %s", scope, strings.Join(resources.ServiceScopes(), ", "))
		}
	}
	return nil
}

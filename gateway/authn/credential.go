package authn

import (
	"context"
	"errors"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// The headers in which a credential is presented.
const (
	headerAuthorization = "Authorization"
	headerAPIKey        = "X-API-Key"
)

var (
	errBlankBeside = errors.New("X-API-Key is blank beside Authorization")
	errKeyNotToken = errors.New("an API key is not a token for this resource")
	errNoAudience  = errors.New("the resource has no name that a token could have as its audience")
)

// Credential returns the credentials in the values of the Authorization and X-API-Key headers, "" for none; a header that
// was not sent has no values. The bearer is an API key where it begins like one, else a token. Errors: KindBadRequest for a header with several
// values, KindNoCredential for a request without a credential, KindBadCredential for an
// Authorization that is not `Bearer <value>` and for a blank X-API-Key beside a bearer. An
// Authorization without a credential counts as not sent. The strings are parts of the given
// ones, as in BearerToken.
func Credential(authorization, apiKey []string) (bearer, key string, err error) {
	var problems []resources.Problem
	if len(authorization) > 1 {
		problems = append(problems, resources.Problem{Field: headerAuthorization, Text: "must be sent once"})
	}
	if len(apiKey) > 1 {
		problems = append(problems, resources.Problem{Field: headerAPIKey, Text: "must be sent once"})
	}
	noKey := len(apiKey) == 0 || strings.TrimSpace(apiKey[0]) == ""
	switch {
	case len(problems) > 0:
		return "", "", resources.BadRequest(problems...)
	case holdNothing(authorization) && noKey:
		return "", "", absent()
	case holdNothing(authorization):
		return "", apiKey[0], nil
	case len(apiKey) == 1 && noKey:
		return "", "", refused(errBlankBeside)
	}
	if bearer, err = BearerToken(authorization...); err != nil || len(apiKey) == 0 {
		return bearer, "", err
	}
	return bearer, apiKey[0], nil
}

// Authenticate returns the principal of the credentials in these two headers, each checked with
// Verify or VerifyKey. A key beside a token of its owner counts as the key: its scopes bound
// what the token allows. Two valid credentials of different principals, or two different keys,
// are KindBadRequest. Other errors are those of Credential and Verify.
func (a *Authenticator) Authenticate(ctx context.Context, authorization, apiKey []string) (resources.Principal, error) {
	sent, sentKey, err := Credential(authorization, apiKey)
	if err != nil {
		return resources.Principal{}, err
	}
	if sentKey == "" {
		return a.bearer(ctx, sent)
	}
	key, err := a.VerifyKey(ctx, sentKey)
	if err != nil || sent == "" || sent == sentKey {
		return key, err
	}
	bearer, err := a.bearer(ctx, sent)
	if err != nil {
		return resources.Principal{}, err
	}
	if bearer.Kind != key.Kind || bearer.ID != key.ID || bearer.AccountID != key.AccountID || bearer.KeyID != "" {
		return resources.Principal{}, resources.BadRequest(resources.Problem{
			Field: headerAPIKey, Text: "must be a key of the user in " + headerAuthorization + "; send one of the two",
		})
	}
	return key, nil
}

// AuthenticateFor returns the principal of a token whose `aud` names the audience (RFC 8707), whichever audience its
// issuer has in general. A token with a malformed client is refused, and so is an API key. agentsOf is the account whose
// agents may come without a user, "" for none. Errors are those of BearerToken and Verify.
func (a *Authenticator) AuthenticateFor(ctx context.Context, audience, agentsOf string, authorization []string) (resources.Principal, error) {
	token, err := BearerToken(authorization...)
	switch {
	case err != nil:
		return resources.Principal{}, err
	case audience == "":
		return resources.Principal{}, refused(errNoAudience)
	case resources.IsAPIKey(token):
		return resources.Principal{}, refused(errKeyNotToken)
	}
	v, err := a.tokenFor(ctx, audience, token)
	if err != nil {
		return resources.Principal{}, err
	}
	if err := v.malformed; err != nil {
		return resources.Principal{}, refusedf("issuer %q: %w", v.claims.Issuer, err)
	}
	return a.principalOf(ctx, agentsOf, v)
}

// bearer returns the principal of a token or an API key.
func (a *Authenticator) bearer(ctx context.Context, value string) (resources.Principal, error) {
	if resources.IsAPIKey(value) {
		return a.VerifyKey(ctx, value)
	}
	return a.Verify(ctx, value)
}

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

var errBlankBeside = errors.New("X-API-Key is blank beside Authorization")

// Presented are the credentials of one request, as yet unchecked; "" is none, and one of
// them at least is there.
type Presented struct {
	// Bearer is what Authorization bears: an API key where it begins like one, else a token.
	Bearer string
	// Key is the value of X-API-Key.
	Key string
}

// Credential decides what the values of the Authorization and X-API-Key headers present;
// no value is a header that was not sent. Errors: KindBadRequest for a header with
// several values, KindNoCredential where nothing is presented, KindBadCredential for an
// Authorization that is not `Bearer <value>`, and for a blank X-API-Key beside a bearer: it
// was meant to be a credential. An Authorization that bears nothing is none. The strings are parts of those given (copy what a server
// lent).
func Credential(authorization, apiKey []string) (Presented, error) {
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
		return Presented{}, resources.BadRequest(problems...)
	case bearsNothing(authorization) && noKey:
		return Presented{}, absent()
	case bearsNothing(authorization):
		return Presented{Key: apiKey[0]}, nil
	case len(apiKey) == 1 && noKey:
		return Presented{}, refused(errBlankBeside)
	}
	bearer, err := BearerToken(authorization...)
	if err != nil {
		return Presented{}, err
	}
	if len(apiKey) == 0 {
		return Presented{Bearer: bearer}, nil
	}
	return Presented{Bearer: bearer, Key: apiKey[0]}, nil
}

// Authenticate says who presents the credentials of these two headers, each checked with
// Verify or VerifyKey. A key beside a token of its owner is a key: its scopes bound what
// the token could do. Two good credentials of different principals, or two different
// keys, are KindBadRequest; where one is not good, that is the answer. Other errors as in
// Credential and Verify.
func (a *Authenticator) Authenticate(ctx context.Context, authorization, apiKey []string) (resources.Principal, error) {
	shown, err := Credential(authorization, apiKey)
	if err != nil {
		return resources.Principal{}, err
	}
	if shown.Key == "" {
		return a.bearer(ctx, shown.Bearer)
	}
	key, err := a.VerifyKey(ctx, shown.Key)
	if err != nil || shown.Bearer == "" || shown.Bearer == shown.Key {
		return key, err
	}
	bearer, err := a.bearer(ctx, shown.Bearer)
	if err != nil {
		return resources.Principal{}, err
	}
	if bearer.Kind != key.Kind || bearer.ID != key.ID || bearer.AccountID != key.AccountID || bearer.KeyID != "" {
		return resources.Principal{}, resources.BadRequest(resources.Problem{
			Field: headerAPIKey, Text: "is not a key of the one whom " + headerAuthorization + " names; send one of them",
		})
	}
	return key, nil
}

// bearer says who the bearer of a token or an API key is.
func (a *Authenticator) bearer(ctx context.Context, value string) (resources.Principal, error) {
	if resources.IsAPIKey(value) {
		return a.VerifyKey(ctx, value)
	}
	return a.Verify(ctx, value)
}

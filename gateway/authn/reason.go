package authn

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/resources"
)

// Why a credential was refused, for metrics and logs. Callers do not see it.
const (
	ReasonNone         = "no_credential"
	ReasonMalformed    = "malformed"
	ReasonExpired      = "expired"
	ReasonSignature    = "signature"
	ReasonClaims       = "claims"
	ReasonIssuer       = "unknown_issuer"
	ReasonKey          = "unknown_key"
	ReasonNoKeys       = "no_key_set"
	ReasonAPIKey       = "api_key"
	ReasonUser         = "unknown_user"
	ReasonInactiveUser = "inactive_user"
	ReasonService      = "service_refused"
	ReasonIdentity     = "identity_headers"
)

// Reasons returns every reason.
func Reasons() []string {
	return []string{
		ReasonNone, ReasonMalformed, ReasonExpired, ReasonSignature, ReasonClaims, ReasonIssuer, ReasonKey, ReasonNoKeys, ReasonAPIKey,
		ReasonUser, ReasonInactiveUser, ReasonService, ReasonIdentity,
	}
}

// ReasonOf returns why a credential was refused, "" for an error that says nothing of one.
func ReasonOf(err error) string {
	domain := resources.AsError(err)
	switch {
	case domain.Kind == resources.KindNoCredential && len(domain.Problems) > 0:
		return ReasonIdentity
	case domain.Kind == resources.KindNoCredential:
		return ReasonNone
	case domain.Kind != resources.KindBadCredential:
		return ""
	}
	for _, one := range []struct {
		reason string
		causes []error
	}{
		{ReasonExpired, []error{jwt.ErrTokenExpired, errKeyExpired}},
		{ReasonSignature, []error{jwt.ErrTokenSignatureInvalid}},
		{ReasonIssuer, []error{errUnknownIssuer}},
		{ReasonKey, []error{errUnknownKey, errManyKeys}},
		{ReasonNoKeys, []error{errNoKeysYet, errKeysTooOld}},
		{ReasonAPIKey, []error{errKeysOff, errNoSuchKey, errKeyMismatch, errKeyNotToken}},
		{ReasonUser, []error{errUnknownUser, errUnknownAgent, errBlankRecord}},
		{ReasonInactiveUser, []error{errInactiveUser, errInactiveAgent}},
		{ReasonService, []error{errServiceRefused, errServiceActor}},
		{ReasonClaims, []error{jwt.ErrTokenInvalidClaims, errMember, errNoSubject, errSubjectForm, errNoIssuerMember, errClient, errNoAudience}},
	} {
		for _, cause := range one.causes {
			if errors.Is(err, cause) {
				return one.reason
			}
		}
	}
	return ReasonMalformed
}

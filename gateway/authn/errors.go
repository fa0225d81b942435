package authn

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// The texts for callers: one for every refused credential, without its reason.
const (
	refusedText = "invalid or expired authentication token"
	absentText  = "authentication is required"
)

// quotedLimit is the length of a value of the token that a cause may show, in bytes.
const quotedLimit = 64

func refused(cause error) *resources.Error {
	return &resources.Error{Kind: resources.KindBadCredential, Message: refusedText, Cause: cause}
}

func refusedf(format string, args ...any) *resources.Error {
	return refused(fmt.Errorf(format, args...))
}

func absent() *resources.Error {
	return &resources.Error{Kind: resources.KindNoCredential, Message: absentText}
}

// quoted returns a value of the token for a log line: quoted, and shortened.
func quoted(s string) string {
	if len(s) > quotedLimit {
		return fmt.Sprintf("%q…", s[:quotedLimit])
	}
	return fmt.Sprintf("%q", s)
}

// joined wraps both errors on one line; errors.Join takes two.
func joined(public, why error) error {
	if why == nil {
		return public
	}
	return fmt.Errorf("%w: %w", public, why)
}

package authn

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// Public texts: one for every refused credential, so that none tells more than another.
const (
	refusedText = "invalid or expired authentication token"
	absentText  = "authentication is required"
)

// quotedLimit is how much of a value from the token a cause may show, in bytes.
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

// quoted makes a value of the token fit for a log line: one line, short.
func quoted(s string) string {
	if len(s) > quotedLimit {
		return fmt.Sprintf("%q…", s[:quotedLimit])
	}
	return fmt.Sprintf("%q", s)
}

// joined says both on one line; errors.Join would take two.
func joined(what, why error) error {
	if why == nil {
		return what
	}
	return fmt.Errorf("%w: %w", what, why)
}

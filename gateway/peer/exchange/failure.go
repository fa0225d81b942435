package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"golang.org/x/oauth2"

	"github.com/portcullis-authz/portcullis/resources"
)

const notNow = "The authorization server gives no token for this server now; try again."

var (
	errRefused  = errors.New("exchange: the token endpoint refused")
	errTimedOut = errors.New("exchange: the token endpoint took too long")
	errBroken   = errors.New("exchange: the request failed")
)

// final are the codes of an authorization server's refusal of this caller's token or of this target. For an unacceptable
// token RFC 8693 (2.2.2) has invalid_request, and many servers have invalid_grant.
var final = []string{"invalid_grant", "invalid_request", "invalid_target"}

// codes are the further codes that a log may show.
var codes = []string{
	"access_denied", "invalid_client", "invalid_scope", "invalid_token", "server_error", "temporarily_unavailable",
	"unauthorized_client", "unsupported_grant_type", "unsupported_token_type",
}

// failure returns the error for a request without a token. It leaves out what the server wrote.
func failure(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return resources.Unavailable(notNow, transport(err))
	}
	status, code := refused.Response.StatusCode, refused.ErrorCode
	denied := status == http.StatusBadRequest && slices.Contains(final, code)
	if !slices.Contains(final, code) && !slices.Contains(codes, code) {
		code = "without a known code"
	}
	cause := fmt.Errorf("%w: %d, %s", errRefused, status, code)
	if denied {
		return &resources.Error{Kind: resources.KindForbidden, Message: "The authorization server gives no token for this server.", Cause: cause}
	}
	return resources.Unavailable(notNow, cause)
}

// transport returns the cause of a request without a response of the endpoint.
func transport(err error) error {
	var slow net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		return errTimedOut
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%w: %w", errBroken, op)
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%w: %w", errBroken, bad)
	}
	return errUnreadable
}

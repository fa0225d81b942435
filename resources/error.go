package resources

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the class of an error. Package resources/wire maps it to a status and to the codes
// of the three error bodies.
type Kind int

// The kinds of error. The zero value is an internal error; callers see a fixed text for it.
const (
	KindInternal Kind = iota
	KindBadRequest
	KindNoCredential
	KindBadCredential
	KindForbidden
	KindNotFound
	KindMethodNotAllowed
	KindConflict
	KindGone
	KindTooLarge
	KindTooSlow
	KindUnsupportedMedia
	KindRateLimited
	KindUnavailable
)

// Problem is one thing that is wrong with an input.
type Problem struct {
	// Field is a path such as "permissions[2]", a header or a query parameter; "" is the
	// request as a whole.
	Field string
	// Text says what is wrong and how to correct it.
	Text string
}

// String returns the problem as one line of details.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Text
	}
	return p.Field + ": " + p.Text
}

// Error is the error type of the domain. Callers see Message, Problems and RetryAfter; Cause
// goes to the log only.
type Error struct {
	Kind     Kind
	Message  string
	Problems []Problem
	// Noun names what was not found ("user", "api_key", …), for error bodies that have a
	// code of its own for it.
	Noun string
	// RetryAfter is the pause before a retry, for 429 and 503; zero is one second.
	RetryAfter time.Duration
	Cause      error
}

// Error returns the message and the cause, for the log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// BadRequest returns the refusal of an input, with all of its problems.
func BadRequest(problems ...Problem) *Error {
	return &Error{Kind: KindBadRequest, Message: "The request is not valid.", Problems: problems}
}

// Denied returns the refusal of a request that policy denies, with the reason of policy. The
// gateway and the areas refuse in the same words, so a caller can't tell which of them did.
func Denied(reason string) *Error {
	return &Error{Kind: KindForbidden, Message: "You may not do this.", Problems: []Problem{{Text: reason}}}
}

// Reasons of policy (policies/authz/reasons.rego) that areas give too.
const (
	ReasonNotOwn         = "this is not the caller's"
	ReasonNoServiceScope = "no scope of the service allows this"
)

// Forbidden returns a refusal of what the caller may not do, with that message.
func Forbidden(format string, args ...any) *Error {
	return &Error{Kind: KindForbidden, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns the refusal for a noun that does not exist, or is hidden from the caller.
func NotFound(noun string) *Error {
	return &Error{Kind: KindNotFound, Message: "There is no such " + noun + ".", Noun: noun}
}

// Conflict returns the refusal of a change that the present data does not allow.
func Conflict(format string, args ...any) *Error {
	return &Error{Kind: KindConflict, Message: fmt.Sprintf(format, args...)}
}

// Gone returns the refusal for what was there and is not kept any more.
func Gone(format string, args ...any) *Error {
	return &Error{Kind: KindGone, Message: fmt.Sprintf(format, args...)}
}

// Unavailable returns the refusal of a request that may succeed when it is repeated in a
// second.
func Unavailable(message string, cause error) *Error {
	return &Error{Kind: KindUnavailable, Message: message, Cause: cause, RetryAfter: time.Second}
}

// AsError returns the domain error in the chain of err. Any other error becomes the cause of
// an internal one with a fixed text.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: KindInternal, Message: "The request could not be completed because of an internal error.", Cause: err}
}

// IsKind says whether the chain of err holds a domain error of that kind.
func IsKind(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}

// OneLine returns a message without line breaks.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

package resources

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what went wrong; resources/wire maps each to a status and to the
// codes of the three error bodies.
type Kind int

// The kinds of error. The zero value is an internal error: nothing about it is
// told to a caller.
const (
	KindInternal Kind = iota
	KindBadRequest
	KindNoCredential
	KindBadCredential
	KindForbidden
	KindNotFound
	KindMethodNotAllowed
	KindConflict
	KindTooLarge
	KindTooSlow
	KindUnsupportedMedia
	KindRateLimited
	KindUnavailable
)

// Problem is one thing wrong with an input: the field and what to do about it.
type Problem struct {
	// Field is a path such as "permissions[2]", a header or a query parameter; "" is
	// the request as a whole.
	Field string
	// Text says what is wrong with it and how to mend it.
	Text string
}

// String renders the problem for a list of details.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Text
	}
	return p.Field + ": " + p.Text
}

// Error is the one error type of the domain. What is in Message, Problems and
// RetryAfter is told to the caller; the wrapped cause goes to the log only.
type Error struct {
	Kind     Kind
	Message  string
	Problems []Problem
	// Noun is what was not found ("user", "api_key", …), where the error body
	// has a code of its own for it.
	Noun string
	// RetryAfter is when to come again, for 429 and 503; zero is one second.
	RetryAfter time.Duration
	Cause      error
}

// Error implements error: the whole story, for the log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// BadRequest refuses an input with all of its problems.
func BadRequest(problems ...Problem) *Error {
	return &Error{Kind: KindBadRequest, Message: "The request is not valid.", Problems: problems}
}

// Forbidden refuses what the caller may not do; the reason is told.
func Forbidden(format string, args ...any) *Error {
	return &Error{Kind: KindForbidden, Message: fmt.Sprintf(format, args...)}
}

// NotFound says that the noun is not there, or not the caller's to see.
func NotFound(noun string) *Error {
	return &Error{Kind: KindNotFound, Message: "There is no such " + noun + ".", Noun: noun}
}

// Conflict refuses a change that the data as it stands does not allow.
func Conflict(format string, args ...any) *Error {
	return &Error{Kind: KindConflict, Message: fmt.Sprintf(format, args...)}
}

// Unavailable says that the answer can't be given now and may be later.
func Unavailable(message string, cause error) *Error {
	return &Error{Kind: KindUnavailable, Message: message, Cause: cause, RetryAfter: time.Second}
}

// AsError gives the domain error in err's chain; an unknown error becomes an
// internal one with a fixed text and itself as the cause.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindInternal, Message: "The request could not be completed because of an internal error.", Cause: err}
}

// IsKind says whether err carries a domain error of that kind.
func IsKind(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

package store

import (
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Errors of every engine; compare with errors.Is.
var (
	ErrNotFound = errors.New("store: no such record")
	ErrRevision = errors.New("store: the record has another revision; it was changed meanwhile")
	ErrReadOnly = errors.New("store: a view must not write")
	ErrNoLease  = errors.New("store: this engine has no leases; ask for its freshness each time")

	// ErrUnavailable means that the engine cannot answer now; nothing was written. It is a domain error: a request is
	// answered with 503 for it.
	ErrUnavailable error = &resources.Error{
		Kind: resources.KindUnavailable, RetryAfter: time.Second,
		Message: "The store is not available now, and nothing was changed; try again.",
	}
	// ErrOutcomeUnknown is the error of a commit whose result is not known: the change may or may not
	// have happened.
	ErrOutcomeUnknown error = &resources.Error{
		Kind: resources.KindUnavailable, RetryAfter: time.Second,
		Message: "It is not known whether the change was made; read what is there, or try again.",
	}
)

// explained is an error of the contract that reads as its cause: the text of the contract's error is for the
// caller of the API, the cause is for the operator.
type explained struct{ contract, cause error }

// Error implements error.
func (e *explained) Error() string { return e.cause.Error() }

// Unwrap returns the contract's error and the cause.
func (e *explained) Unwrap() []error { return []error{e.contract, e.cause} }

// Unavailable returns an error that is ErrUnavailable and the cause, and reads as the cause.
func Unavailable(cause error) error { return &explained{ErrUnavailable, cause} }

// OutcomeUnknown returns an error that is ErrOutcomeUnknown and the cause, and reads as the cause.
func OutcomeUnknown(cause error) error { return &explained{ErrOutcomeUnknown, cause} }

// DuplicateError is the error of a value that a unique index, or the key ("" in Index), has already.
type DuplicateError struct{ Collection, Index string }

// Error implements error.
func (e *DuplicateError) Error() string {
	if e.Index == "" {
		return "store: " + e.Collection + ": the key is in use"
	}
	return "store: " + e.Collection + ": a value of index " + e.Index + " is in use"
}

// IsDuplicate reports whether err is a *DuplicateError for that index ("" is the key).
func IsDuplicate(err error, index string) bool {
	dup, ok := errors.AsType[*DuplicateError](err)
	return ok && dup.Index == index
}

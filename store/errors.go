package store

import (
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Errors of every engine; compare with errors.Is.
var (
	ErrNotFound = errors.New("store: no such record")
	ErrRevision = errors.New("store: the record was changed meanwhile")
	ErrReadOnly = errors.New("store: a view can't write")
	ErrNoLease  = errors.New("store: this engine has no leases; ask it for its freshness each time")

	// ErrUnavailable: the engine can't answer now; nothing was written. It is a domain
	// error, so that it answers 503 wherever it comes out.
	ErrUnavailable error = &resources.Error{
		Kind: resources.KindUnavailable, RetryAfter: time.Second,
		Message: "The store is not available now, and nothing was changed; try again.",
	}
	// ErrOutcomeUnknown: the connection was lost while committing; the change may or
	// may not have happened.
	ErrOutcomeUnknown error = &resources.Error{
		Kind: resources.KindUnavailable, RetryAfter: time.Second,
		Message: "It is not known whether the change was made; read what is there, or try again.",
	}
)

// DuplicateError says that a unique index, or the key ("" in Index), has the value already.
type DuplicateError struct{ Collection, Index string }

// Error implements error.
func (e *DuplicateError) Error() string {
	if e.Index == "" {
		return "store: " + e.Collection + ": the key is in use"
	}
	return "store: " + e.Collection + ": a value of index " + e.Index + " is in use"
}

// IsDuplicate says whether err is a *DuplicateError for that index ("" is the key).
func IsDuplicate(err error, index string) bool {
	var dup *DuplicateError
	return errors.As(err, &dup) && dup.Index == index
}

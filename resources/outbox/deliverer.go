package outbox

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
)

// Deliverer is a way to deliver messages: SMTP or Folder.
type Deliverer interface {
	// Deliver delivers the message and returns nil when the receiver has accepted it. It returns
	// when ctx ends. With an error of IsPermanent no other attempt can succeed.
	Deliver(ctx context.Context, m resources.Message) error
}

// permanentError is an error that another attempt can't change.
type permanentError struct{ cause error }

// Permanent marks an error as final. The worker does not try the message again.
func Permanent(err error) error { return &permanentError{cause: err} }

// IsPermanent says whether the chain of err has an error of Permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// Error implements error.
func (e *permanentError) Error() string { return e.cause.Error() }

// Unwrap returns the error that was marked.
func (e *permanentError) Unwrap() error { return e.cause }

package outbox

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
)

// Deliverer takes a message out of the system: SMTP or Folder.
type Deliverer interface {
	// Deliver returns nil when the receiver has taken the message. It is done when ctx
	// ends. An error that IsPermanent says that trying again is of no use.
	Deliver(ctx context.Context, m resources.Message) error
}

// permanentError is a refusal that will not change.
type permanentError struct{ cause error }

// Permanent marks an error as final: the message is not tried again.
func Permanent(err error) error { return &permanentError{cause: err} }

// IsPermanent says whether err, or one that it wraps, was marked by Permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// Error implements error.
func (e *permanentError) Error() string { return e.cause.Error() }

// Unwrap gives the refusal itself.
func (e *permanentError) Unwrap() error { return e.cause }

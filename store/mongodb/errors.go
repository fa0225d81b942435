package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/portcullis-authz/portcullis/store"
)

// Codes and labels of the server.
const (
	codeNamespaceExists = 48
	labelTransient      = "TransientTransactionError"
)

var (
	errOver   = errors.New("store: the transaction is over")
	errClosed = store.Unavailable(errors.New("mongodb: closed"))
	errBusy   = store.Unavailable(errors.New("mongodb: lost every conflict with other writers"))
	errQueued = store.Unavailable(errors.New("mongodb: the change must be run again in a group"))
	errApart  = errors.New("mongodb: the changes must be run again one by one")
)

// unavailable returns an error that is both err and store.ErrUnavailable.
func unavailable(err error) error {
	return store.Unavailable(fmt.Errorf("mongodb: %w", err))
}

// translate turns a driver's error into one of the contract, with the driver's as text only.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return unavailable(cause)
	}
	if mongo.IsTimeout(err) { // the driver can notice a deadline before the context does
		return unavailable(context.DeadlineExceeded)
	}
	return store.Unavailable(fmt.Errorf("mongodb: %v", err))
}

// isConflict reports whether another transaction was faster, or the primary has changed: the whole
// transaction can be retried. A duplicate is a conflict too: each value was looked up before.
func isConflict(err error) bool {
	return hasLabel(err, labelTransient) || mongo.IsDuplicateKeyError(err)
}

func hasLabel(err error, label string) bool {
	labelled, ok := errors.AsType[mongo.LabeledError](err)
	return ok && labelled.HasErrorLabel(label)
}

func hasCode(err error, code int) bool {
	server, ok := errors.AsType[mongo.ServerError](err)
	return ok && server.HasErrorCode(code)
}

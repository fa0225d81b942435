package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Results of an attempt.
const (
	// ResultDelivered means that the receiver has the message and its record is deleted.
	ResultDelivered = "delivered"
	// ResultFailed means that the message will be tried again.
	ResultFailed = "failed"
	// ResultDead means that the message stays as a dead letter.
	ResultDead = "dead"
	// ResultReleased means that the worker was stopped. The message is due at once, and the
	// attempt does not count.
	ResultReleased = "released"
)

// handle delivers a leased message and stores the outcome. The deadline of the delivery is that of
// work; ctx ends when the worker is stopped.
func (w *Worker) handle(ctx, work context.Context, rec store.Record[resources.Message]) {
	cause := w.attempt(work, rec.Value)
	after := w.judge(work, rec.Value, cause, w.cfg.Now())
	err := w.settle(ctx, func(ctx context.Context, tx store.Tx) error {
		if after.result == ResultDelivered {
			return w.c.Delete(ctx, tx, rec)
		}
		done := rec
		done.Value = after.message
		return w.c.Replace(ctx, tx, done)
	})
	log := w.cfg.Log.With("message_id", rec.Value.ID, "kind", rec.Value.Kind, "account_id", rec.Value.AccountID, "attempt", rec.Value.Attempts+1)
	if err != nil { // the message becomes due again when its lease ends
		log.Error("the outcome of a delivery could not be stored; the message may be sent again",
			"result", after.result, "error", err.Error())
		return
	}
	after.log(log)
	w.cfg.Observe(after.result)
}

// attempt delivers the message and returns a panic of the deliverer as an error.
func (w *Worker) attempt(ctx context.Context, m resources.Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the delivery panicked: %v", p)
		}
	}()
	return w.cfg.Deliver.Deliver(ctx, m)
}

// verdict is the result of an attempt and the message as it is to be stored.
type verdict struct {
	result  string
	message resources.Message
}

// log writes the result of an attempt to the log.
func (v verdict) log(log *slog.Logger) {
	switch v.result {
	case ResultDelivered:
		log.Info("message delivered")
	case ResultFailed:
		log.Warn("message not delivered; it will be tried again", "error", v.message.LastError, "next_at", v.message.NextAt.String())
	case ResultDead:
		log.Error("message not delivered, and it will not be tried again", "error", v.message.LastError)
	case ResultReleased:
		log.Info("stopped while a message was delivered; the next worker tries again")
	}
}

// judge returns the verdict on a message; its delivery ended at that time with cause.
func (w *Worker) judge(work context.Context, m resources.Message, cause error, moment time.Time) verdict {
	if cause == nil {
		return verdict{result: ResultDelivered, message: m}
	}
	m.LeaseOwner, m.LeaseUntil, m.NextAt = "", 0, resources.At(moment)
	if errors.Is(work.Err(), context.Canceled) && !IsPermanent(cause) {
		return verdict{result: ResultReleased, message: m}
	}
	m.Attempts++
	m.LastError = cleanLine(cause.Error(), maxError)
	if IsPermanent(cause) || m.Attempts >= w.cfg.Attempts {
		m.State = resources.MessageDead
		return verdict{result: ResultDead, message: m}
	}
	m.NextAt += millis(w.delay(m.Attempts))
	return verdict{result: ResultFailed, message: m}
}

// settle stores the outcome of a delivery, with retries for at most settleTime. A mail whose record
// stays would be sent again.
func (w *Worker) settle(ctx context.Context, change func(context.Context, store.Tx) error) error {
	ctx, cancel := outlive(ctx, settleTime, w.cfg.Grace)
	defer cancel()
	for maybeDone := false; ; {
		err := w.cfg.Store.Transact(ctx, func(tx store.Tx) error { return change(ctx, tx) })
		switch {
		case err == nil:
			return nil
		case maybeDone && (errors.Is(err, store.ErrRevision) || errors.Is(err, store.ErrNotFound)):
			return nil // the change of the attempt before was made
		case errors.Is(err, store.ErrOutcomeUnknown):
			maybeDone = true
		case !errors.Is(err, store.ErrUnavailable):
			return err
		}
		pause := time.NewTimer(settlePause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Results of an attempt.
const (
	// ResultDelivered: the receiver has it, the record is gone.
	ResultDelivered = "delivered"
	// ResultFailed: it will be tried again.
	ResultFailed = "failed"
	// ResultDead: it stays as a dead letter.
	ResultDead = "dead"
	// ResultReleased: the worker was stopped; it is due at once, and no attempt was counted.
	ResultReleased = "released"
)

// Outcome is one attempt to deliver a message.
type Outcome struct {
	// Kind is the message's; Result one of the constants.
	Kind, Result string
	// Took is the time of the delivery; Age is how old the message was at its end.
	Took, Age time.Duration
}

// handle delivers a leased message and writes down what became of it. work is the
// delivery's time, ctx the worker's life.
func (w *Worker) handle(ctx, work context.Context, rec store.Record[resources.Message]) {
	began := w.cfg.Now()
	cause := w.attempt(work, rec.Value)
	ended := w.cfg.Now()
	after := w.judge(work, rec.Value, cause, ended)
	err := w.settle(ctx, func(ctx context.Context, tx store.Tx) error {
		if after.result == ResultDelivered {
			return w.c.Delete(ctx, tx, rec)
		}
		return w.c.Replace(ctx, tx, store.Record[resources.Message]{Value: after.message, Revision: rec.Revision})
	})
	log := w.cfg.Log.With("message_id", rec.Value.ID, "kind", rec.Value.Kind, "account_id", rec.Value.AccountID, "attempt", rec.Value.Attempts+1)
	if err != nil {
		// The lease ends by itself, and somebody tries again.
		log.Error("what became of a message could not be written down; it may be sent again",
			"result", after.result, "error", err.Error())
		return
	}
	switch after.result {
	case ResultDelivered:
		log.Info("message delivered")
	case ResultFailed:
		log.Warn("message not delivered; it will be tried again", "error", after.message.LastError, "next_at", after.message.NextAt.String())
	case ResultDead:
		log.Error("message not delivered, and it will not be tried again", "error", after.message.LastError)
	case ResultReleased:
		log.Info("stopped while a message was delivered; the next worker tries again")
	}
	w.cfg.Observe(Outcome{
		Kind: rec.Value.Kind, Result: after.result, Took: ended.Sub(began),
		Age: time.Duration(resources.At(ended)-rec.Value.CreatedAt) * time.Millisecond,
	})
}

// attempt delivers; a panic in the way, foreign bytes having been read, is a failure.
func (w *Worker) attempt(ctx context.Context, m resources.Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the delivery panicked: %v", p)
		}
	}()
	return w.cfg.Deliver.Deliver(ctx, m)
}

// verdict is what is to become of a message.
type verdict struct {
	result  string
	message resources.Message
}

func (w *Worker) judge(work context.Context, m resources.Message, cause error, at time.Time) verdict {
	if cause == nil {
		return verdict{result: ResultDelivered, message: m}
	}
	m.LeaseOwner, m.LeaseUntil, m.NextAt = "", 0, resources.At(at)
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

// settle makes the change as long as the lease allows: a mail that was sent and not
// deleted is sent twice.
func (w *Worker) settle(ctx context.Context, change func(context.Context, store.Tx) error) error {
	ctx, cancel := outlive(ctx, settleTime, w.cfg.Grace)
	defer cancel()
	for maybeDone := false; ; {
		err := w.cfg.Store.Transact(ctx, func(tx store.Tx) error { return change(ctx, tx) })
		switch {
		case err == nil:
			return nil
		case maybeDone && (errors.Is(err, store.ErrRevision) || errors.Is(err, store.ErrNotFound)):
			return nil // it was this change that went through
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

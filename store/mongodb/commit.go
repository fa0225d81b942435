package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/portcullis-authz/portcullis/store"
)

const (
	// commitTime bounds the retries of a commit with an unknown result.
	commitTime = 5 * time.Second
	// abortTime bounds an abort. The server undoes by itself what is left.
	abortTime = 2 * time.Second
	// leaseRest is how long a writer waits beyond a lease.
	leaseRest = 50 * time.Millisecond
)

// begin starts the transaction; end is called in any case.
func (t *tx) begin() error {
	if err := t.ready(t.ctx); err != nil {
		return err
	}
	ses, err := t.s.session(true)
	if err != nil {
		return translate(t.ctx, err)
	}
	t.ses = ses
	return translate(t.ctx, ses.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()).
		SetWriteConcern(durable()).SetReadPreference(readpref.Primary())))
}

// end undoes what was not committed, and lets the next change of the process move the epoch, also after a panic. A
// caller past its deadline does not wait for it.
func (t *tx) end() {
	committed := t.ended
	t.ended = true
	end := func() {
		if t.ses != nil {
			if !committed {
				t.undo()
			}
			t.s.end(t.ses)
		}
		if t.holds {
			t.s.release()
		}
	}
	if t.late || t.ctx.Err() != nil {
		t.s.inBackground(end)
		return
	}
	end()
}

func (t *tx) undo() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), abortTime)
	defer cancel()
	_ = t.ses.AbortTransaction(ctx) // after an error the server does it by itself
}

// commit moves the epoch and makes the transaction durable, or ends a snapshot.
func (t *tx) commit() (again bool, err error) {
	if err := t.seal(); err != nil {
		return t.conflict, err
	}
	if err := t.ready(t.ctx); err != nil {
		return t.conflict, err
	}
	t.ended = true
	if !t.writable { // a read counts only once a majority has it; its commit has no unknown result
		err := t.ses.CommitTransaction(t.ctx)
		return hasLabel(err, labelTransient), translate(t.ctx, err)
	}
	return commit(t.ctx, t.ses)
}

// commit retries until the result is known; a retry is safe. The end of the caller's context does not interrupt it: the
// result of an interrupted commit would be unknown. Only one label of the server means that a commit did not happen;
// after any other error a majority may have it, now or later.
func commit(ctx context.Context, ses *mongo.Session) (again bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := ses.CommitTransaction(ctx)
		if err == nil {
			return false, nil
		}
		if hasLabel(err, labelTransient) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, store.ErrOutcomeUnknown
		case <-time.After(pause):
		}
	}
}

// outwait waits until no process uses a freshness of before the commit any more: the lease, 1 % for clocks that run
// apart, and leaseRest. The end of a context does not shorten it: the client relies on an answered change.
func outwait(lease time.Duration) {
	if lease > 0 {
		time.Sleep(lease + lease/100 + leaseRest)
	}
}

package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Once delivers at most four due messages, the one that is due first before the others, and stores
// the outcomes. It returns how many messages it leased. Errors are the store's.
func (w *Worker) Once(ctx context.Context) (taken int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// The deadline of the deliveries begins before their leases, so a process that is suspended in
	// between has no time left when it wakes up.
	work, cancel := outlive(ctx, w.cfg.Timeout, w.cfg.Grace)
	defer cancel()
	leased, err := w.take(work) // with ctx, a stop could leave a lease behind
	if err != nil {
		return 0, err
	}
	var wait sync.WaitGroup
	for _, rec := range leased {
		wait.Go(func() { w.handle(ctx, work, rec) })
	}
	wait.Wait()
	return len(leased), nil
}

// take leases due messages. It reads first, and writes only when a message is due.
func (w *Worker) take(ctx context.Context) (leased []store.Record[resources.Message], err error) {
	due := false
	err = w.cfg.Store.View(ctx, func(tx store.Tx) error {
		first, err := w.c.Find(ctx, tx, pending(1))
		due = len(first) > 0 && first[0].Value.NextAt <= w.now()
		return err
	})
	if err != nil || !due {
		return nil, err
	}
	err = w.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		leased, err = w.lease(ctx, tx, w.now())
		return err
	})
	if err != nil {
		return nil, err
	}
	return leased, nil
}

// lease leases at most batch due messages that have no lease.
func (w *Worker) lease(ctx context.Context, tx store.Tx, now resources.Time) (leased []store.Record[resources.Message], err error) {
	until := now + millis(w.cfg.Timeout+margin)
	for q := pending(batch); ; {
		recs, err := w.c.Find(ctx, tx, q)
		if err != nil {
			return nil, err
		}
		for _, rec := range recs {
			if rec.Value.NextAt > now || len(leased) == batch {
				return leased, nil
			}
			if rec.Value.LeaseUntil > now {
				continue
			}
			rec.Value.LeaseOwner, rec.Value.LeaseUntil, rec.Value.NextAt = w.cfg.Owner, until, until
			if err := w.c.Replace(ctx, tx, rec); err != nil {
				return nil, err
			}
			rec.Revision++
			leased = append(leased, rec)
		}
		if len(recs) < q.Limit {
			return leased, nil
		}
		q.After = w.c.CursorAt(q, recs[len(recs)-1].Value)
	}
}

// pending returns the query for waiting messages, the one that is due first before the others.
func pending(limit int) store.Query {
	return store.Query{Index: records.ByDue, Equal: []store.Value{store.String(resources.MessagePending)}, Limit: limit}
}

// millis returns a duration in the unit of resources.Time.
func millis(d time.Duration) resources.Time { return resources.Time(d.Milliseconds()) }

// outlive returns a context with an end after limit, or grace after the end of ctx if this is earlier.
func outlive(ctx context.Context, limit, grace time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-out.Done():
		}
	})
	return out, func() {
		stop()
		cancel()
	}
}

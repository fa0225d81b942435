package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// sample bounds the pending messages that Stats reads.
const sample = 1000

// probeState is the state of the message that Check writes and deletes at once.
const probeState = "probe"

// Stats holds the counts of the outbox.
type Stats struct {
	// Pending counts the messages that wait for a delivery.
	Pending int
	// Dead counts the dead letters.
	Dead int
	// Oldest is the oldest time of storage among the 1,000 pending messages due first; zero without
	// pending ones.
	Oldest time.Time
}

// Stats counts the messages of the outbox, for metrics.
func (w *Worker) Stats(ctx context.Context) (Stats, error) {
	var out Stats
	err := w.cfg.Store.View(ctx, func(tx store.Tx) error {
		recs, err := w.c.Find(ctx, tx, pending(sample))
		if err != nil {
			return err
		}
		var oldest resources.Time
		for i, rec := range recs {
			if i == 0 || rec.Value.CreatedAt < oldest {
				oldest = rec.Value.CreatedAt
			}
		}
		out = Stats{}
		if len(recs) > 0 {
			out.Oldest = time.UnixMilli(int64(oldest))
		}
		if out.Pending, err = w.c.Count(ctx, tx, pending(0)); err != nil {
			return err
		}
		out.Dead, err = w.c.Count(ctx, tx, store.Query{
			Index: records.ByDue, Equal: []store.Value{store.String(resources.MessageDead)},
		})
		return err
	})
	if err != nil {
		return Stats{}, fmt.Errorf("outbox: stats: %w", err)
	}
	return out, nil
}

// Check checks that a message can be stored: it inserts and deletes one in one transaction. It does
// not check the mail server.
func (w *Worker) Check(ctx context.Context) error {
	probe := resources.Message{ID: w.probeID(), Kind: probeState, State: probeState, CreatedAt: w.now(), NextAt: w.now()}
	err := w.cfg.Store.Transact(ctx, func(tx store.Tx) error {
		if err := w.c.Insert(ctx, tx, probe); err != nil {
			return err
		}
		rec, err := w.c.Get(ctx, tx, probe.ID)
		if err != nil {
			return err
		}
		return w.c.Delete(ctx, tx, rec)
	})
	if err != nil {
		return fmt.Errorf("outbox: no message can be stored: %w", err)
	}
	return nil
}

// probeID makes the id of a message that Check stores.
func (w *Worker) probeID() string {
	w.dice.Lock()
	defer w.dice.Unlock()
	return "probe-" + resources.IDs{Now: w.cfg.Now, Random: w.cfg.Random}.ULID()
}

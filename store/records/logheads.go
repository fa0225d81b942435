package records

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/store"
)

// LogHead is how far a decision log was written.
type LogHead struct {
	// Log is the id of the log.
	Log     string `json:"log"`
	Segment int64  `json:"segment"`
	Line    int64  `json:"line"`
	Hash    string `json:"hash"`
	// Signature is the log's own.
	Signature string `json:"signature,omitempty"`
}

func logHeads() store.Collection[LogHead] {
	return store.NewCollection(store.Schema{
		Name: "decision_log_heads", Columns: text("log"), Indexes: []store.Index{{Name: ByName, Columns: []string{"log"}}},
	}, func(h *LogHead) string { return h.Log }, func(h *LogHead) []store.Value { return []store.Value{store.String(h.Log)} })
}

// SaveLogHead keeps the head of a log, in place of its former one.
func (c Collections) SaveLogHead(ctx context.Context, s store.Store, h LogHead) error {
	return s.Transact(ctx, func(tx store.Tx) error {
		rec, err := c.LogHeads.Get(ctx, tx, h.Log)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return c.LogHeads.Insert(ctx, tx, h)
		case err != nil:
			return err
		}
		rec.Value = h
		return c.LogHeads.Replace(ctx, tx, rec)
	})
}

// AllLogHeads returns the heads of all logs.
func (c Collections) AllLogHeads(ctx context.Context, s store.Store) (out []LogHead, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		recs, err := c.LogHeads.Find(ctx, tx, store.Query{Index: ByName, Limit: maxLogHeads})
		out = nil
		for _, rec := range recs {
			out = append(out, rec.Value)
		}
		return err
	})
	return out, err
}

// maxLogHeads bounds the logs of one store.
const maxLogHeads = 10_000

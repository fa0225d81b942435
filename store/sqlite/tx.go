package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/portcullis-authz/portcullis/store"
)

// tx is one transaction or snapshot on one session.
type tx struct {
	ctx      context.Context //nolint:containedctx // it bounds the whole transaction, beside each operation's own context
	ses      *session
	tables   map[string]*table
	writable bool
	wrote    bool
	bumped   map[string]int64
	// met is called with each error of SQLite, and returns it.
	met func(error) error
	// failed is the first error after which SQLite may have ended the transaction: the next write
	// would be a transaction of its own, so it is refused.
	failed error
	ended  bool
}

// end undoes what was not committed, also after a panic.
func (t *tx) end() {
	if !t.ended {
		t.ended = true
		t.ses.rollback()
	}
}

// ready returns an error where no operation may run any more.
func (t *tx) ready(ctx context.Context) error {
	if t.ended {
		return errOver
	}
	if t.failed == nil {
		for _, c := range []context.Context{t.ctx, ctx} {
			if err := c.Err(); err != nil {
				t.failed = unavailable(err)
				break
			}
		}
	}
	return t.failed
}

// fail records an error after which no operation may run.
func (t *tx) fail(ctx context.Context, err error) error {
	t.failed = t.met(translate(ctx, err))
	return t.failed
}

func (t *tx) table(s *store.Schema) (*table, error) {
	if tab, ok := t.tables[s.Name]; ok {
		return tab, nil
	}
	return nil, fmt.Errorf("store: collection %s was not declared when the store was opened", s.Name)
}

// Get implements store.Tx.
func (t *tx) Get(ctx context.Context, schema *store.Schema, key string) (store.Row, error) {
	tab, err := t.table(schema)
	if err != nil {
		return store.Row{}, err
	}
	if err := t.ready(ctx); err != nil {
		return store.Row{}, err
	}
	var out store.Row
	ok := false
	err = t.ses.each(ctx, tab.get, []any{key}, func(row []driver.Value) error {
		ok = true
		return scan(row, []any{&out.Key, &out.Revision, &out.Body})
	})
	switch {
	case err != nil:
		return store.Row{}, t.fail(ctx, err)
	case !ok:
		return store.Row{}, store.ErrNotFound
	}
	return out, nil
}

// Find implements store.Tx.
func (t *tx) Find(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Row, error) {
	tab, err := t.table(schema)
	if err != nil {
		return nil, err
	}
	text, args, err := tab.query(tab.find, nil, q)
	if err != nil {
		return nil, err
	}
	return t.rows(ctx, text, args)
}

// rows returns the records that a statement selects.
func (t *tx) rows(ctx context.Context, text string, args []any) (out []store.Row, err error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	err = t.ses.each(ctx, text, args, func(row []driver.Value) error {
		var r store.Row
		err := scan(row, []any{&r.Key, &r.Revision, &r.Body})
		out = append(out, r)
		return err
	})
	if err != nil {
		return nil, t.fail(ctx, err)
	}
	return out, nil
}

// Scan implements store.Tx.
func (t *tx) Scan(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Cursor, error) {
	tab, err := t.table(schema)
	if err != nil {
		return nil, err
	}
	text, args, err := tab.query(tab.scan, nil, q)
	if err != nil {
		return nil, err
	}
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	var out []store.Cursor
	err = t.ses.each(ctx, text, args, func(row []driver.Value) error {
		place, err := cursor(row)
		out = append(out, place)
		return err
	})
	if err != nil {
		return nil, t.fail(ctx, err)
	}
	return out, nil
}

// Count implements store.Tx.
func (t *tx) Count(ctx context.Context, schema *store.Schema, q store.Query) (int, error) {
	tab, err := t.table(schema)
	if err != nil {
		return 0, err
	}
	args, err := tab.matched(nil, q)
	if err != nil {
		return 0, err
	}
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	var n int64
	if err := t.ses.long(ctx, tab.count[shapeOf(q, false)], args, []any{&n}); err != nil {
		return 0, t.fail(ctx, err)
	}
	return int(n), nil
}

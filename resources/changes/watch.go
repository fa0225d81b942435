package changes

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/store"
)

// write is what a transaction has done to one record; nil is absent.
type write struct {
	kind          kind
	before, after []byte
}

// name is a record of the store.
type name struct{ collection, key string }

// watched is a transaction that notes what it writes to the collections of kinds.
type watched struct {
	store.Tx
	kinds map[string]kind
	// seen are the bodies of records that were read: a change reads what it replaces.
	seen    map[name][]byte
	byName  map[name]*write
	written []*write
}

func watch(tx store.Tx, kinds map[string]kind) *watched {
	return &watched{Tx: tx, kinds: kinds, seen: map[name][]byte{}, byName: map[name]*write{}}
}

func (w *watched) note(schema *store.Schema, rows ...store.Row) {
	if _, ok := w.kinds[schema.Name]; ok {
		for _, row := range rows {
			w.seen[name{schema.Name, row.Key}] = row.Body
		}
	}
}

// Get implements store.Tx.
func (w *watched) Get(ctx context.Context, schema *store.Schema, key string) (store.Row, error) {
	row, err := w.Tx.Get(ctx, schema, key)
	if err == nil {
		w.note(schema, row)
	}
	return row, err
}

// Find implements store.Tx, and notes the records that it returns.
func (w *watched) Find(ctx context.Context, schema *store.Schema, query store.Query) ([]store.Row, error) {
	rows, err := w.Tx.Find(ctx, schema, query)
	if err == nil {
		w.note(schema, rows...)
	}
	return rows, err
}

// Insert implements store.Tx.
func (w *watched) Insert(ctx context.Context, schema *store.Schema, row store.Row) error {
	err := w.Tx.Insert(ctx, schema, row)
	if err == nil {
		w.wrote(schema, row.Key, nil, row.Body)
	}
	return err
}

// Replace implements store.Tx.
func (w *watched) Replace(ctx context.Context, schema *store.Schema, row store.Row) error {
	before, err := w.before(ctx, schema, row.Key)
	if err != nil {
		return err
	}
	if err = w.Tx.Replace(ctx, schema, row); err == nil {
		w.wrote(schema, row.Key, before, row.Body)
	}
	return err
}

// Delete implements store.Tx.
func (w *watched) Delete(ctx context.Context, schema *store.Schema, key string, revision int64) error {
	before, err := w.before(ctx, schema, key)
	if err != nil {
		return err
	}
	if err = w.Tx.Delete(ctx, schema, key, revision); err == nil {
		w.wrote(schema, key, before, nil)
	}
	return err
}

// DeleteAll implements store.Tx. It reads what it removes.
func (w *watched) DeleteAll(ctx context.Context, schema *store.Schema, query store.Query) error {
	if _, ok := w.kinds[schema.Name]; !ok {
		return w.Tx.DeleteAll(ctx, schema, query)
	}
	query.After, query.Limit = nil, 0
	rows, err := w.Tx.Find(ctx, schema, query)
	if err != nil {
		return err
	}
	w.note(schema, rows...)
	if err := w.Tx.DeleteAll(ctx, schema, query); err != nil {
		return err
	}
	for _, row := range rows {
		w.wrote(schema, row.Key, row.Body, nil)
	}
	return nil
}

// before returns a record's body as it is before a write of this transaction.
func (w *watched) before(ctx context.Context, schema *store.Schema, key string) ([]byte, error) {
	if _, ok := w.kinds[schema.Name]; !ok {
		return nil, nil
	}
	if body, ok := w.seen[name{schema.Name, key}]; ok {
		return body, nil
	}
	row, err := w.Tx.Get(ctx, schema, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // the write will say so
	}
	return row.Body, err
}

// wrote notes a write. The first one of a record has seen how it was before.
func (w *watched) wrote(schema *store.Schema, key string, before, after []byte) {
	k, ok := w.kinds[schema.Name]
	if !ok {
		return
	}
	n := name{schema.Name, key}
	w.seen[n] = after
	one := w.byName[n]
	if one == nil {
		one = &write{kind: k, before: before}
		w.byName[n] = one
		w.written = append(w.written, one)
	}
	one.after = after
}

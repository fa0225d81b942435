package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/portcullis-authz/portcullis/store"
)

// writing returns the statements of a write, or an error where none may run.
func (t *tx) writing(ctx context.Context, s *store.Schema) (*table, error) {
	tab, err := t.table(s)
	if err != nil {
		return nil, err
	}
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	if !t.writable {
		return nil, store.ErrReadOnly
	}
	return tab, nil
}

// writingRow is writing for a write of a record. It returns the values of its columns, too.
func (t *tx) writingRow(ctx context.Context, s *store.Schema, row store.Row) (*table, []any, error) {
	tab, err := t.writing(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	columns, err := tab.columns(row)
	return tab, columns, err
}

// Insert implements store.Tx.
func (t *tx) Insert(ctx context.Context, schema *store.Schema, row store.Row) error {
	tab, columns, err := t.writingRow(ctx, schema, row)
	if err != nil {
		return err
	}
	_, err = t.ses.exec(ctx, tab.insert, append([]any{row.Key, row.Body}, columns...)...)
	if isUnique(err) {
		return t.duplicate(ctx, tab, row, true)
	}
	if err != nil {
		return t.fail(ctx, err)
	}
	t.wrote = true
	return nil
}

// Replace implements store.Tx. It checks the revision first: a caller with an old one gets ErrRevision,
// and not a duplicate that the newer record may not have.
func (t *tx) Replace(ctx context.Context, schema *store.Schema, row store.Row) error {
	tab, columns, err := t.writingRow(ctx, schema, row)
	if err != nil {
		return err
	}
	n, err := t.ses.exec(ctx, tab.replace, append(append([]any{row.Body}, columns...), row.Key, row.Revision)...)
	if isUnique(err) {
		return t.duplicate(ctx, tab, row, false)
	}
	return t.changed(ctx, tab, row.Key, n, err)
}

// Delete implements store.Tx.
func (t *tx) Delete(ctx context.Context, schema *store.Schema, key string, revision int64) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	n, err := t.ses.exec(ctx, tab.delete, key, revision)
	return t.changed(ctx, tab, key, n, err)
}

// DeleteAll implements store.Tx.
func (t *tx) DeleteAll(ctx context.Context, schema *store.Schema, q store.Query) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	args, err := tab.matched(nil, q)
	if err != nil {
		return err
	}
	n, err := t.ses.exec(ctx, tab.deleteAll[shapeOf(q, false)], args...)
	t.wrote = t.wrote || n > 0
	return t.fail(ctx, err)
}

// changed returns why a change at a revision found no record.
func (t *tx) changed(ctx context.Context, tab *table, key string, n int64, err error) error {
	if err != nil {
		return t.fail(ctx, err)
	}
	if n > 0 {
		t.wrote = true
		return nil
	}
	var revision int64
	switch err := t.ses.one(ctx, tab.revision, []any{key}, []any{&revision}); {
	case errors.Is(err, errNoRow):
		return store.ErrNotFound
	case err != nil:
		return t.fail(ctx, err)
	}
	return store.ErrRevision
}

// duplicate finds which value is in use: the key first, then the indexes in their declared order.
// SQLite's own error names one in words only, in an order of its own.
func (t *tx) duplicate(ctx context.Context, tab *table, row store.Row, insert bool) error {
	dup := &store.DuplicateError{Collection: tab.schema.Name}
	var n int64
	if insert {
		err := t.ses.one(ctx, tab.revision, []any{row.Key}, []any{&n})
		if err == nil {
			return dup
		}
		if !errors.Is(err, errNoRow) {
			return t.fail(ctx, err)
		}
	}
	values := map[string]any{}
	for i, c := range tab.schema.Columns {
		values[c.Name] = bind(row.Columns[i])
	}
	for _, ix := range tab.schema.Indexes {
		if !ix.Unique {
			continue
		}
		args := make([]any, 0, len(ix.Columns)+1)
		for _, c := range ix.Columns {
			args = append(args, values[c])
		}
		err := t.ses.one(ctx, tab.hasUnique[ix.Name], append(args, row.Key), []any{&n})
		if err == nil {
			dup.Index = ix.Name
			return dup
		}
		if !errors.Is(err, errNoRow) {
			return t.fail(ctx, err)
		}
	}
	return t.fail(ctx, fmt.Errorf("collection %s: a unique index refused a value that no record has", tab.schema.Name))
}

// columns checks a row against the schema and returns its values as arguments.
func (t *table) columns(row store.Row) ([]any, error) {
	if err := t.schema.Fits(row); err != nil {
		return nil, err
	}
	out := make([]any, len(row.Columns))
	for i, v := range row.Columns {
		out[i] = bind(v)
	}
	return out, nil
}

package sqlite

import (
	"context"

	"github.com/portcullis-authz/portcullis/store"
)

// List implements store.Tx.
func (t *tx) List(ctx context.Context, schema *store.Schema, after string, limit int) ([]store.Row, error) {
	tab, err := t.table(schema)
	if err != nil {
		return nil, err
	}
	return t.rows(ctx, tab.list, []any{after, int64(max(limit, 0))})
}

// Load implements store.Tx.
func (t *tx) Load(ctx context.Context, schema *store.Schema, row store.Row) error {
	tab, columns, err := t.writingRow(ctx, schema, row)
	if err != nil {
		return err
	}
	if _, err := t.ses.exec(ctx, tab.load, append([]any{row.Key, row.Revision, row.Body}, columns...)...); err != nil {
		return t.fail(ctx, err)
	}
	t.wrote = true
	return nil
}

package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/store"
)

// Store returns the store with a span for each view, transaction, list of changes and read of the epoch, and inside
// these one for each command.
func (t *Tracer) Store(part store.Store, system string) store.Store {
	return wrapped[store.Store](t, part, stored{part, t, system})
}

type stored struct {
	store.Store
	t      *Tracer
	system string
}

// monitored reports whether the store's driver reports its commands to Tracer.Commands.
func (s stored) monitored() bool { return s.system != "sqlite" }

func (s stored) begin(ctx context.Context, operation string) (context.Context, api.Span) {
	if !sampled(ctx) { // allocate no attributes
		return ctx, nil
	}
	return s.t.child(ctx, "store "+operation, attribute.String("db.system.name", s.system))
}

// View implements store.Store.
func (s stored) View(ctx context.Context, fn func(store.Tx) error) error {
	reach(ctx, inStore)
	ctx, span := s.begin(ctx, "view")
	err := s.Store.View(ctx, s.traced(span, fn))
	finish(span, err)
	return err
}

// Transact implements store.Store.
func (s stored) Transact(ctx context.Context, fn func(store.Tx) error) error {
	ctx, span := s.begin(ctx, "transaction")
	err := s.Store.Transact(ctx, s.traced(span, fn))
	finish(span, err)
	return err
}

// Freshness implements store.Store.
func (s stored) Freshness(ctx context.Context) (store.Freshness, error) {
	if !s.monitored() { // SQLite answers without a query
		return s.Store.Freshness(ctx)
	}
	ctx, span := s.begin(ctx, "freshness")
	f, err := s.Store.Freshness(ctx)
	finish(span, err)
	return f, err
}

// Changes implements store.Store.
func (s stored) Changes(ctx context.Context, after int64, limit int) ([]store.AccountRevision, bool, error) {
	ctx, span := s.begin(ctx, "changes")
	changed, complete, err := s.Store.Changes(ctx, after, limit)
	finish(span, err)
	return changed, complete, err
}

// traced returns fn with spans of its commands inside the span, or fn itself if span is nil.
func (s stored) traced(span api.Span, fn func(store.Tx) error) func(store.Tx) error {
	if span == nil {
		return fn
	}
	return func(tx store.Tx) error { return fn(commands{tx, s, span}) }
}

// commands is a view or a transaction of a sampled request. fn calls it with the context of the request, so it sets the
// span of the view or transaction in that context.
type commands struct {
	store.Tx
	parent stored
	span   api.Span
}

func (c commands) begin(ctx context.Context, operation string, schema *store.Schema) (context.Context, api.Span) {
	ctx = api.ContextWithSpan(ctx, c.span)
	if c.parent.monitored() {
		return ctx, nil
	}
	name, attributes := operation, []attribute.KeyValue{attribute.String("db.system.name", c.parent.system), attribute.String("db.operation.name", operation)}
	if schema != nil {
		name += " " + schema.Name
		attributes = append(attributes, attribute.String("db.collection.name", schema.Name))
	}
	return c.parent.t.call(ctx, name, attributes...)
}

// end ends the span of a command. store.ErrNotFound is an answer, not an error.
func end(span api.Span, err error) {
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	finish(span, err)
}

// query traces a read.
func query[T any](ctx context.Context, c commands, operation string, schema *store.Schema, do func(context.Context) (T, error)) (T, error) {
	ctx, span := c.begin(ctx, operation, schema)
	out, err := do(ctx)
	end(span, err)
	return out, err
}

// Get implements store.Tx.
func (c commands) Get(ctx context.Context, schema *store.Schema, key string) (store.Row, error) {
	return query(ctx, c, "get", schema, func(ctx context.Context) (store.Row, error) { return c.Tx.Get(ctx, schema, key) })
}

// Find implements store.Tx.
func (c commands) Find(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Row, error) {
	return query(ctx, c, "find", schema, func(ctx context.Context) ([]store.Row, error) { return c.Tx.Find(ctx, schema, q) })
}

// Scan implements store.Tx.
func (c commands) Scan(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Cursor, error) {
	return query(ctx, c, "scan", schema, func(ctx context.Context) ([]store.Cursor, error) { return c.Tx.Scan(ctx, schema, q) })
}

// Count implements store.Tx.
func (c commands) Count(ctx context.Context, schema *store.Schema, q store.Query) (int, error) {
	return query(ctx, c, "count", schema, func(ctx context.Context) (int, error) { return c.Tx.Count(ctx, schema, q) })
}

// Together implements store.Tx.
func (c commands) Together(ctx context.Context, account string, reads ...store.Read) (int64, [][]store.Row, error) {
	ctx, span := c.begin(ctx, "find together", nil)
	revision, rows, err := c.Tx.Together(ctx, account, reads...)
	end(span, err)
	return revision, rows, err
}

// Revision implements store.Tx.
func (c commands) Revision(ctx context.Context, account string) (int64, error) {
	return query(ctx, c, "revision", nil, func(ctx context.Context) (int64, error) { return c.Tx.Revision(ctx, account) })
}

// Bump implements store.Tx.
func (c commands) Bump(ctx context.Context, account string) (int64, error) {
	return query(ctx, c, "bump", nil, func(ctx context.Context) (int64, error) { return c.Tx.Bump(ctx, account) })
}

// Insert implements store.Tx.
func (c commands) Insert(ctx context.Context, schema *store.Schema, row store.Row) error {
	return c.write(ctx, "insert", schema, func(ctx context.Context) error { return c.Tx.Insert(ctx, schema, row) })
}

// Replace implements store.Tx.
func (c commands) Replace(ctx context.Context, schema *store.Schema, row store.Row) error {
	return c.write(ctx, "replace", schema, func(ctx context.Context) error { return c.Tx.Replace(ctx, schema, row) })
}

// Delete implements store.Tx.
func (c commands) Delete(ctx context.Context, schema *store.Schema, key string, revision int64) error {
	return c.write(ctx, "delete", schema, func(ctx context.Context) error { return c.Tx.Delete(ctx, schema, key, revision) })
}

// DeleteAll implements store.Tx.
func (c commands) DeleteAll(ctx context.Context, schema *store.Schema, query store.Query) error {
	return c.write(ctx, "delete all", schema, func(ctx context.Context) error { return c.Tx.DeleteAll(ctx, schema, query) })
}

func (c commands) write(ctx context.Context, operation string, schema *store.Schema, do func(context.Context) error) error {
	ctx, span := c.begin(ctx, operation, schema)
	err := do(ctx)
	end(span, err)
	return err
}

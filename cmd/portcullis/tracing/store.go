package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/store"
)

// Store returns the store with a span for each snapshot, each transaction and each read of its epoch, and inside them
// one for each command.
func (t *Tracer) Store(of store.Store, system string) store.Store {
	return wrapped[store.Store](t, of, stored{of, t, system})
}

type stored struct {
	store.Store
	t      *Tracer
	system string
}

// tells says whether the store's driver tells of its commands (Tracer.Commands).
func (s stored) tells() bool { return s.system != "sqlite" }

func (s stored) begin(ctx context.Context, what string) (context.Context, api.Span) {
	if !sampled(ctx) { // no attributes are made
		return ctx, nil
	}
	return s.t.child(ctx, "store "+what, attribute.String("db.system.name", s.system))
}

// View implements store.Store.
func (s stored) View(ctx context.Context, fn func(store.Tx) error) error {
	went(ctx, inStore)
	ctx, span := s.begin(ctx, "view")
	err := s.Store.View(ctx, s.inside(span, fn))
	finish(span, err)
	return err
}

// Transact implements store.Store.
func (s stored) Transact(ctx context.Context, fn func(store.Tx) error) error {
	ctx, span := s.begin(ctx, "transaction")
	err := s.Store.Transact(ctx, s.inside(span, fn))
	finish(span, err)
	return err
}

// Freshness implements store.Store.
func (s stored) Freshness(ctx context.Context) (store.Freshness, error) {
	if !s.tells() { // there it costs no query
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

// inside returns fn with the commands that it gives being inside the span, which is nil where there is none.
func (s stored) inside(span api.Span, fn func(store.Tx) error) func(store.Tx) error {
	if span == nil {
		return fn
	}
	return func(tx store.Tx) error { return fn(commands{tx, s, span}) }
}

// commands is a snapshot or a transaction of a sampled request. The context that it is given is that of the request, so
// it adds the span which the commands are inside.
type commands struct {
	store.Tx
	of   stored
	span api.Span
}

func (c commands) begin(ctx context.Context, operation string, schema *store.Schema) (context.Context, api.Span) {
	ctx = api.ContextWithSpan(ctx, c.span)
	if c.of.tells() {
		return ctx, nil
	}
	name, about := operation, []attribute.KeyValue{attribute.String("db.system.name", c.of.system), attribute.String("db.operation.name", operation)}
	if schema != nil {
		name += " " + schema.Name
		about = append(about, attribute.String("db.collection.name", schema.Name))
	}
	return c.of.t.call(ctx, name, about...)
}

// end ends the span of a command. That a record is not there is an answer.
func end(span api.Span, err error) {
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	finish(span, err)
}

// Get implements store.Tx.
func (c commands) Get(ctx context.Context, schema *store.Schema, key string) (store.Row, error) {
	ctx, span := c.begin(ctx, "get", schema)
	row, err := c.Tx.Get(ctx, schema, key)
	end(span, err)
	return row, err
}

// Find implements store.Tx.
func (c commands) Find(ctx context.Context, schema *store.Schema, query store.Query) ([]store.Row, error) {
	ctx, span := c.begin(ctx, "find", schema)
	rows, err := c.Tx.Find(ctx, schema, query)
	end(span, err)
	return rows, err
}

// Scan implements store.Tx.
func (c commands) Scan(ctx context.Context, schema *store.Schema, query store.Query) ([]store.Cursor, error) {
	ctx, span := c.begin(ctx, "scan", schema)
	places, err := c.Tx.Scan(ctx, schema, query)
	end(span, err)
	return places, err
}

// Count implements store.Tx.
func (c commands) Count(ctx context.Context, schema *store.Schema, query store.Query) (int, error) {
	ctx, span := c.begin(ctx, "count", schema)
	n, err := c.Tx.Count(ctx, schema, query)
	end(span, err)
	return n, err
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
	ctx, span := c.begin(ctx, "revision", nil)
	revision, err := c.Tx.Revision(ctx, account)
	end(span, err)
	return revision, err
}

// Bump implements store.Tx.
func (c commands) Bump(ctx context.Context, account string) (int64, error) {
	ctx, span := c.begin(ctx, "bump", nil)
	revision, err := c.Tx.Bump(ctx, account)
	end(span, err)
	return revision, err
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

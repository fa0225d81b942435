package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Collection is the records of one type, with their key and columns.
type Collection[T any] struct {
	schema  *Schema
	key     func(*T) string
	columns func(*T) []Value
	// members are those of T's JSON, in lower case; nil for a T other than a struct.
	members map[string]bool
}

// Record is a value as it was read, with the revision that a change must name.
type Record[T any] struct {
	Value    T
	Revision int64
	// body is what was read, nil for a record made by the caller.
	body []byte
}

// NewCollection declares a collection; columns returns the values of schema.Columns in
// their order.
func NewCollection[T any](schema Schema, key func(*T) string, columns func(*T) []Value) Collection[T] {
	schema.Extract = func(body []byte) ([]Value, error) {
		var v T
		if err := json.Unmarshal(body, &v); err != nil {
			return nil, fmt.Errorf("store: %s: %w", schema.Name, err)
		}
		return columns(&v), nil
	}
	return Collection[T]{schema: &schema, key: key, columns: columns, members: membersOf(reflect.TypeFor[T]())}
}

// Schema returns what engines need.
func (c Collection[T]) Schema() *Schema { return c.schema }

// Key returns the key of a value.
func (c Collection[T]) Key(v T) string { return c.key(&v) }

// Get returns one record, or ErrNotFound.
func (c Collection[T]) Get(ctx context.Context, tx Tx, key string) (Record[T], error) {
	row, err := tx.Get(ctx, c.schema, key)
	if err != nil {
		return Record[T]{}, err
	}
	return c.decode(row)
}

// Insert adds a record; errors as for Tx.Insert.
func (c Collection[T]) Insert(ctx context.Context, tx Tx, v T) error {
	row, err := c.encode(Record[T]{Value: v})
	if err != nil {
		return err
	}
	return tx.Insert(ctx, c.schema, row)
}

// Replace changes a record that was read in this transaction or before; errors as for Tx.Replace. It keeps the members of
// the body that T does not have.
func (c Collection[T]) Replace(ctx context.Context, tx Tx, rec Record[T]) error {
	row, err := c.encode(rec)
	if err != nil {
		return err
	}
	return tx.Replace(ctx, c.schema, row)
}

// Delete removes a record that was read; errors as for Tx.Delete.
func (c Collection[T]) Delete(ctx context.Context, tx Tx, rec Record[T]) error {
	return tx.Delete(ctx, c.schema, c.key(&rec.Value), rec.Revision)
}

// DeleteAll removes the records that the query matches; see Tx.DeleteAll.
func (c Collection[T]) DeleteAll(ctx context.Context, tx Tx, q Query) error {
	return tx.DeleteAll(ctx, c.schema, q)
}

// GetAll reads several records together, and returns those that there are by their keys.
func (c Collection[T]) GetAll(ctx context.Context, tx Tx, keys []string) (map[string]Record[T], error) {
	if len(keys) == 0 {
		return nil, nil
	}
	reads := make([]Read, len(keys))
	for i, key := range keys {
		reads[i] = Read{Schema: c.schema, Key: key}
	}
	results, err := ReadAll(ctx, tx, reads)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Record[T], len(keys))
	for i, rows := range results {
		for _, row := range rows {
			if out[keys[i]], err = c.decode(row); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Find returns the records that the query matches, in the order of its index.
func (c Collection[T]) Find(ctx context.Context, tx Tx, q Query) ([]Record[T], error) {
	rows, err := tx.Find(ctx, c.schema, q)
	if err != nil {
		return nil, err
	}
	return c.decodeAll(rows)
}

// List returns the first records behind the key; see Tx.List.
func (c Collection[T]) List(ctx context.Context, tx Tx, after string, limit int) ([]Record[T], error) {
	rows, err := tx.List(ctx, c.schema, after, limit)
	if err != nil {
		return nil, err
	}
	return c.decodeAll(rows)
}

// Count returns how many records the query matches, without regard to its After and Limit.
func (c Collection[T]) Count(ctx context.Context, tx Tx, q Query) (int, error) {
	return tx.Count(ctx, c.schema, q)
}

// First returns the first record that the query matches, or ErrNotFound.
func (c Collection[T]) First(ctx context.Context, tx Tx, q Query) (Record[T], error) {
	q.Limit = 1
	recs, err := c.Find(ctx, tx, q)
	if err != nil {
		return Record[T]{}, err
	}
	if len(recs) == 0 {
		return Record[T]{}, ErrNotFound
	}
	return recs[0], nil
}

// Page returns the first records of the query, as many as its Limit. It returns the place of the
// next page, nil for the last one.
func (c Collection[T]) Page(ctx context.Context, tx Tx, q Query) ([]Record[T], *Cursor, error) {
	size := q.Limit
	q.Limit++ // one more record: there is a next page
	recs, err := c.Find(ctx, tx, q)
	if err != nil || len(recs) <= size {
		return recs, nil, err
	}
	return recs[:size], c.CursorAt(q, recs[size-1].Value), nil
}

// Lookup wraps Get and First for a record that may be absent: it returns nil for ErrNotFound.
func Lookup[T any](rec Record[T], err error) (*Record[T], error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &rec, nil
}

// CursorAt returns the place after v in the order of a query.
func (c Collection[T]) CursorAt(q Query, v T) *Cursor {
	values := make(map[string]Value, len(c.schema.Columns))
	for i, val := range c.columns(&v) {
		values[c.schema.Columns[i].Name] = val
	}
	cur := &Cursor{Key: c.key(&v)}
	for _, name := range c.schema.Index(q.Index).Columns[len(q.Equal):] {
		cur.Values = append(cur.Values, values[name])
	}
	return cur
}

func (c Collection[T]) encode(rec Record[T]) (Row, error) {
	body, err := marshal(&rec.Value)
	if err == nil {
		body, err = c.keep(body, rec.body)
	}
	if err != nil {
		return Row{}, fmt.Errorf("store: %s: %w", c.schema.Name, err)
	}
	return Row{Key: c.key(&rec.Value), Revision: rec.Revision, Columns: c.columns(&rec.Value), Body: body}, nil
}

// marshal renders a value on one line.
func marshal(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // free JSON in a record (metadata) stays as the client sent it
	err := enc.Encode(v)
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}

func (c Collection[T]) decodeAll(rows []Row) (out []Record[T], err error) {
	out = make([]Record[T], len(rows))
	for i, row := range rows {
		if out[i], err = c.decode(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c Collection[T]) decode(row Row) (Record[T], error) {
	rec := Record[T]{Revision: row.Revision, body: row.Body}
	if err := json.Unmarshal(row.Body, &rec.Value); err != nil {
		return Record[T]{}, fmt.Errorf("store: %s: %w", c.schema.Name, err)
	}
	return rec, nil
}

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// tx is one attempt at a transaction, or a snapshot.
type tx struct {
	ctx      context.Context //nolint:containedctx // it bounds the whole transaction, beside each operation's own context
	s        *Store
	ses      *mongo.Session
	writable bool
	// bumped are the revisions that moved. The members of a group share it.
	bumped map[string]int64
	// failed is the first error after which the server has ended the transaction: later operations
	// fail too. conflict is set if the whole transaction can be retried.
	failed   error
	conflict bool
	ended    bool
	// wrote is set if more than revisions was written.
	wrote bool
	// holds is set if this transaction has the slot.
	holds bool
	// late is set after the deadline of a caller who waits for the end.
	late bool
	// first is set if the epoch is written first.
	first bool
	// epoch is this change's after it has moved, and lease the longest of any process at that time.
	epoch int64
	lease time.Duration
}

// document is a record as it is stored.
type document struct {
	Key      string `bson:"_id"`
	Revision int64  `bson:"rev"`
	Body     []byte `bson:"body"`
	Columns  bson.D `bson:"c"`
	Declared string `bson:"cv"`
}

// see makes the first read, which fixes the snapshot.
func (t *tx) see(ctx context.Context) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	err := t.s.meta().FindOne(t.session(ctx), byID(epochID), options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
	return t.fail(ctx, err)
}

// session returns the context of an operation of this transaction.
func (t *tx) session(ctx context.Context) context.Context { return mongo.NewSessionContext(ctx, t.ses) }

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

// fail records an error after which no operation may run; nil stays nil.
func (t *tx) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() == nil && t.ctx.Err() == nil && isConflict(err) {
		t.conflict = true
	}
	t.late = t.late || mongo.IsTimeout(err)
	t.failed = translate(ctx, err)
	return t.failed
}

func (t *tx) table(s *store.Schema) (*table, error) {
	if tab, ok := t.s.tables[s.Name]; ok {
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
	var doc document
	err = t.s.collection(tab).FindOne(t.session(ctx), byID(key)).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return store.Row{}, store.ErrNotFound
	}
	if err != nil {
		return store.Row{}, t.fail(ctx, err)
	}
	return tab.row(doc), nil
}

// Find implements store.Tx.
func (t *tx) Find(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Row, error) {
	tab, err := t.table(schema)
	if err != nil {
		return nil, err
	}
	docs, err := t.find(ctx, tab, q, nil)
	return tab.rows(docs), err
}

// Scan implements store.Tx. The server answers it from the index.
func (t *tx) Scan(ctx context.Context, schema *store.Schema, q store.Query) ([]store.Cursor, error) {
	tab, err := t.table(schema)
	if err != nil {
		return nil, err
	}
	ix := schema.Index(q.Index)
	fields := bson.D{{Key: "_id", Value: 1}}
	for _, name := range ix.Columns {
		fields = append(fields, bson.E{Key: tab.field(name), Value: 1})
	}
	docs, err := t.find(ctx, tab, q, fields)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	out := make([]store.Cursor, len(docs))
	for i, doc := range docs {
		out[i].Key = doc.Key
		row := tab.row(doc)
		for _, name := range ix.Columns[len(q.Equal):] {
			out[i].Values = append(out[i].Values, row.Columns[tab.column(name)])
		}
	}
	return out, nil
}

// find returns the documents that the query matches, with those fields; nil is all of them.
func (t *tx) find(ctx context.Context, tab *table, q store.Query, fields bson.D) ([]document, error) {
	filter, err := tab.filter(q, true)
	if err != nil {
		return nil, err
	}
	if err := t.ready(ctx); err != nil || filter == nil {
		return nil, err
	}
	ix := tab.schema.Index(q.Index)
	opts := options.Find().SetSort(tab.sortBy(ix, len(q.Equal))).SetLimit(int64(max(q.Limit, 0))).SetHint(tab.indexName(ix))
	if fields != nil {
		opts.SetProjection(fields)
	}
	return t.documents(ctx, tab, filter, opts)
}

// documents returns the documents that a filter matches.
func (t *tx) documents(ctx context.Context, tab *table, filter bson.D, opts *options.FindOptionsBuilder) (docs []document, err error) {
	cursor, err := t.s.collection(tab).Find(t.session(ctx), filter, opts)
	if err == nil {
		err = cursor.All(t.session(ctx), &docs)
	}
	if err != nil {
		return nil, t.fail(ctx, err)
	}
	return docs, nil
}

// Count implements store.Tx.
func (t *tx) Count(ctx context.Context, schema *store.Schema, q store.Query) (int, error) {
	tab, err := t.table(schema)
	if err != nil {
		return 0, err
	}
	filter, err := tab.filter(q, false)
	if err != nil {
		return 0, err
	}
	if err := t.ready(ctx); err != nil || filter == nil {
		return 0, err
	}
	n, err := t.s.collection(tab).CountDocuments(t.session(ctx), filter, options.Count().SetHint(tab.indexName(schema.Index(q.Index))))
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	return int(n), nil
}

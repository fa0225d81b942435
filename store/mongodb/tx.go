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

// tx is one try of a transaction, or a snapshot.
type tx struct {
	ctx      context.Context //nolint:containedctx // it bounds the whole transaction, whatever an operation is given
	s        *Store
	ses      *mongo.Session
	writable bool
	// bumped are the revisions that moved; the parts of a group share it.
	bumped map[string]int64
	// failed is the first error after which the server has ended the transaction: what
	// comes then fails too. conflict says that all of it may be tried again.
	failed   error
	conflict bool
	over     bool
	// wrote says that more than revisions was written.
	wrote bool
	// holds says that this transaction is the one of the process that may move the epoch.
	holds bool
	// late says that the time is over of somebody who waits for the end.
	late bool
	// first says that the epoch is written first.
	first bool
	// epoch is that of this change once it has moved, and lease the longest of any process then.
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
	err := t.s.meta().FindOne(t.in(ctx), byID(epochID), options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
	return t.fail(ctx, err)
}

// in is the context of an operation of this transaction.
func (t *tx) in(ctx context.Context) context.Context { return mongo.NewSessionContext(ctx, t.ses) }

// ready says whether an operation may run.
func (t *tx) ready(ctx context.Context) error {
	if t.over {
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

// fail records an error that is not an answer; nil stays nil.
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
	err = t.s.collection(tab).FindOne(t.in(ctx), byID(key)).Decode(&doc)
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
	filter, err := tab.filter(q, true)
	if err != nil {
		return nil, err
	}
	if err := t.ready(ctx); err != nil || filter == nil {
		return nil, err
	}
	ix := schema.Index(q.Index)
	cursor, err := t.s.collection(tab).Find(t.in(ctx), filter, options.Find().
		SetSort(tab.sortBy(ix, len(q.Equal))).SetLimit(int64(max(q.Limit, 0))).SetHint(tab.indexName(ix)))
	if err != nil {
		return nil, t.fail(ctx, err)
	}
	var docs []document
	if err := cursor.All(t.in(ctx), &docs); err != nil {
		return nil, t.fail(ctx, err)
	}
	out := make([]store.Row, len(docs))
	for i, doc := range docs {
		out[i] = tab.row(doc)
	}
	return out, nil
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
	n, err := t.s.collection(tab).CountDocuments(t.in(ctx), filter, options.Count().SetHint(tab.indexName(schema.Index(q.Index))))
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	return int(n), nil
}

// Together implements store.Tx.
func (t *tx) Together(ctx context.Context, account string, reads ...store.Read) (int64, [][]store.Row, error) {
	return store.OneByOne(ctx, t, account, reads...)
}

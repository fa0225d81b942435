package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// List implements store.Tx.
func (t *tx) List(ctx context.Context, schema *store.Schema, after string, limit int) ([]store.Row, error) {
	tab, err := t.table(schema)
	if err != nil {
		return nil, err
	}
	if err := t.ready(ctx); err != nil || limit <= 0 {
		return nil, err // a limit of 0 is none to the server
	}
	docs, err := t.documents(ctx, tab, bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}},
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit)).SetHint("_id_"))
	return tab.rows(docs), err
}

// Load implements store.Tx.
func (t *tx) Load(ctx context.Context, schema *store.Schema, row store.Row) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	if err := tab.schema.Fits(row); err != nil {
		return err
	}
	t.wrote = true
	_, err = t.s.collection(tab).ReplaceOne(t.session(ctx), byID(row.Key), document{
		Key: row.Key, Revision: row.Revision, Body: row.Body, Columns: tab.columns(row.Columns), Declared: tab.declared,
	}, options.Replace().SetUpsert(true))
	return t.fail(ctx, err)
}

// LoadRevision implements store.Tx.
func (t *tx) LoadRevision(ctx context.Context, account string, revision int64) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	if !t.writable {
		return store.ErrReadOnly
	}
	if err := t.hold(); err != nil {
		return err
	}
	t.wrote = true
	_, err := t.s.revisions().UpdateOne(t.session(ctx), byID(revisionID(account)), bson.D{
		{Key: "$set", Value: bson.D{{Key: "rev", Value: revision}}},
		{Key: "$setOnInsert", Value: bson.D{{Key: "epoch", Value: int64(0)}}},
	}, options.UpdateOne().SetUpsert(true))
	if err != nil {
		return t.fail(ctx, err)
	}
	t.bumped[account] = revision
	return nil
}

package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// writing returns an error where no write may run.
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

// Insert implements store.Tx.
func (t *tx) Insert(ctx context.Context, schema *store.Schema, row store.Row) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	if err := tab.schema.Fits(row); err != nil {
		return err
	}
	if err := t.inUse(ctx, tab, "", byID(row.Key)); err != nil {
		return err
	}
	if err := t.unique(ctx, tab, row, nil); err != nil {
		return err
	}
	t.wrote = true
	_, err = t.s.collection(tab).InsertOne(t.session(ctx), document{
		Key: row.Key, Revision: 1, Body: row.Body, Columns: tab.columns(row.Columns), Declared: tab.declared,
	})
	return t.fail(ctx, err)
}

// Replace implements store.Tx. It checks the revision first: a caller with an old one gets ErrRevision,
// and not a duplicate that the newer record may not have.
func (t *tx) Replace(ctx context.Context, schema *store.Schema, row store.Row) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	if err := tab.schema.Fits(row); err != nil {
		return err
	}
	old, err := t.getAt(ctx, tab, row.Key, row.Revision)
	if err != nil {
		return err
	}
	if err := t.unique(ctx, tab, row, old.Columns); err != nil {
		return err
	}
	t.wrote = true
	_, err = t.s.collection(tab).UpdateOne(t.session(ctx), byID(row.Key), bson.D{
		{Key: "$inc", Value: bson.D{{Key: "rev", Value: int64(1)}}},
		{Key: "$set", Value: bson.D{
			{Key: "body", Value: row.Body}, {Key: "c", Value: tab.columns(row.Columns)}, {Key: "cv", Value: tab.declared},
		}},
	})
	return t.fail(ctx, err)
}

// Delete implements store.Tx.
func (t *tx) Delete(ctx context.Context, schema *store.Schema, key string, revision int64) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	if _, err := t.getAt(ctx, tab, key, revision); err != nil {
		return err
	}
	t.wrote = true
	_, err = t.s.collection(tab).DeleteOne(t.session(ctx), byID(key))
	return t.fail(ctx, err)
}

// DeleteAll implements store.Tx.
func (t *tx) DeleteAll(ctx context.Context, schema *store.Schema, q store.Query) error {
	tab, err := t.writing(ctx, schema)
	if err != nil {
		return err
	}
	filter, err := tab.filter(q, false)
	if err != nil || filter == nil {
		return err
	}
	t.wrote = true
	_, err = t.s.collection(tab).DeleteMany(t.session(ctx), filter, options.DeleteMany().SetHint(tab.indexName(schema.Index(q.Index))))
	return t.fail(ctx, err)
}

// getAt returns the record at a revision, or why there is none.
func (t *tx) getAt(ctx context.Context, tab *table, key string, revision int64) (store.Row, error) {
	row, err := t.Get(ctx, tab.schema, key)
	if err == nil && row.Revision != revision {
		return store.Row{}, store.ErrRevision
	}
	return row, err
}

// unique looks up the row's values of unique indexes, in the order of their declaration. Values that old
// has too are the record's own. A value that another transaction takes meanwhile is a conflict when this
// one writes.
func (t *tx) unique(ctx context.Context, tab *table, row store.Row, old []store.Value) error {
	for _, ix := range tab.schema.Indexes {
		if !ix.Unique {
			continue
		}
		filter, same := bson.D{}, old != nil
		for i, c := range tab.schema.Columns {
			for _, name := range ix.Columns {
				if name != c.Name {
					continue
				}
				same = same && old[i] == row.Columns[i]
				if row.Columns[i].IsNull() {
					filter = nil
				} else if filter != nil {
					filter = append(filter, bson.E{Key: tab.field(name), Value: bind(row.Columns[i])})
				}
			}
		}
		if same || filter == nil {
			continue
		}
		if err := t.inUse(ctx, tab, ix.Name, append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$ne", Value: row.Key}}})); err != nil {
			return err
		}
	}
	return nil
}

// inUse returns a *store.DuplicateError for the index where a record matches the filter.
func (t *tx) inUse(ctx context.Context, tab *table, index string, filter bson.D) error {
	find := options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})
	switch err := t.s.collection(tab).FindOne(t.session(ctx), filter, find).Err(); {
	case err == nil:
		return &store.DuplicateError{Collection: tab.schema.Name, Index: index}
	case errors.Is(err, mongo.ErrNoDocuments):
		return nil
	default:
		return t.fail(ctx, err)
	}
}

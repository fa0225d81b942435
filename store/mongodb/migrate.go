package mongodb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// declaredIndex finds the documents that lack a column.
const declaredIndex = "by_declaration"

// indexTime bounds the building of an index. A large collection takes longer than any other operation, and each start
// would begin an abandoned one again.
const indexTime = time.Hour

// migrate makes the collection and its indexes, and fills columns that were declared after documents
// were written. It only adds, so that releases before and after a change of the declaration can run at
// the same time.
func (s *Store) migrate(ctx context.Context, t *table) error {
	if err := s.makeCollection(ctx, t.schema.Name); err != nil {
		return err
	}
	declared := mongo.IndexModel{Keys: bson.D{{Key: "cv", Value: 1}}, Options: options.Index().SetName(declaredIndex)}
	if err := makeIndex(ctx, s.collection(t), declared); err != nil {
		return err
	}
	if err := s.fill(ctx, t); err != nil {
		return err
	}
	for _, ix := range t.schema.Indexes {
		err := makeIndex(ctx, s.collection(t), mongo.IndexModel{Keys: t.keys(ix), Options: t.indexOptions(ix)})
		if mongo.IsDuplicateKeyError(err) {
			return fmt.Errorf("the unique index %s can't be made: two records have the same value", ix.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeIndex makes an index of the collection unless it exists.
func makeIndex(ctx context.Context, c *mongo.Collection, index mongo.IndexModel) error {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	_, err := c.Indexes().CreateOne(ctx, index)
	return err
}

// keys returns the keys of an index in the server: its columns, and the record's key if ties need it.
func (t *table) keys(ix store.Index) bson.D {
	out := bson.D{}
	for _, name := range ix.Columns {
		out = append(out, bson.E{Key: t.field(name), Value: 1})
	}
	if !ix.Unique {
		out = append(out, bson.E{Key: "_id", Value: 1})
	}
	return out
}

// indexOptions leaves records with null in a column out of a unique index.
func (t *table) indexOptions(ix store.Index) *options.IndexOptionsBuilder {
	out := options.Index().SetName(t.indexName(ix))
	if !ix.Unique {
		return out
	}
	partial := bson.D{}
	for _, name := range ix.Columns {
		partial = append(partial, bson.E{Key: t.field(name), Value: bson.D{{Key: "$exists", Value: true}}})
	}
	return out.SetUnique(true).SetPartialFilterExpression(partial)
}

// indexName returns a name of what the index is made of: the same columns are the same index in both
// directions, and a changed declaration is another index, beside that of the release before.
func (t *table) indexName(ix store.Index) string {
	names := make([]string, 0, len(ix.Columns)+1)
	for _, name := range ix.Columns {
		names = append(names, strings.TrimPrefix(t.field(name), "c."))
	}
	if ix.Unique {
		names = append(names, "unique")
	}
	return strings.Join(names, "-")
}

// sortBy returns the order of a query with values for n columns. A query for one record has none: the
// index of a unique value does not hold the key.
func (t *table) sortBy(ix store.Index, n int) bson.D {
	if ix.Unique && n == len(ix.Columns) {
		return bson.D{}
	}
	way := 1
	if ix.Descending {
		way = -1
	}
	out := bson.D{}
	for i, name := range order(ix, n) {
		if i < len(ix.Columns)-n {
			name = t.field(name)
		}
		out = append(out, bson.E{Key: name, Value: way})
	}
	return out
}

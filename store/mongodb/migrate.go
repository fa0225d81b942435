package mongodb

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// declaredIndex finds the documents that lack a column.
const declaredIndex = "by_declaration"

// migrate makes the collection and its indexes, and fills columns that were declared
// after documents were written. It only adds, so that a release before and one after a
// change of the declaration can run at a time.
func (s *Store) migrate(ctx context.Context, t *table) error {
	if err := s.makeCollection(ctx, t.schema.Name); err != nil {
		return err
	}
	models := []mongo.IndexModel{{Keys: bson.D{{Key: "cv", Value: 1}}, Options: options.Index().SetName(declaredIndex)}}
	if _, err := s.collection(t).Indexes().CreateMany(ctx, models); err != nil {
		return err
	}
	if err := s.fill(ctx, t); err != nil {
		return err
	}
	for _, ix := range t.schema.Indexes {
		_, err := s.collection(t).Indexes().CreateOne(ctx, mongo.IndexModel{Keys: t.keys(ix), Options: t.indexOptions(ix)})
		if mongo.IsDuplicateKeyError(err) {
			return fmt.Errorf("the index %s can't be made, a value of it is there twice", ix.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keys are those of an index in the server: its columns, and the key where ties have to
// be broken.
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

// indexOptions keep records with nothing in a column out of a unique index.
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

// indexName says what the index is made of: a declaration of the same columns is the same
// index, whichever way it is read, and a changed one is another index, beside that of the
// release before.
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

// sortBy is the order of a query that names values for n columns. One record has none: the
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

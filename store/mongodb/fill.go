package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// fillTime is the time between two fills. For as long a find by a new column may miss a record written by an older
// release.
const fillTime = 5 * time.Second

// keepFilled fills the records of a concurrent older release, until the store is closed. After a failure it goes on at
// the next time.
func (s *Store) keepFilled(ctx context.Context) {
	again := time.NewTicker(fillTime)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		for _, t := range s.tables {
			_ = s.fill(ctx, t)
		}
	}
}

// fill adds missing columns, taken from the bodies. It leaves alone a document with more columns than declared here: a
// newer release's.
func (s *Store) fill(ctx context.Context, t *table) error {
	var names []string
	if err := s.collection(t).Distinct(ctx, "cv", bson.D{}).Decode(&names); err != nil {
		return err
	}
	want := strings.Fields(t.declared)
	for _, cv := range names {
		has := strings.Fields(cv)
		if !slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(has, name) }) {
			continue
		}
		both := append(has, want...)
		slices.Sort(both)
		if err := s.fillFrom(ctx, t, cv, strings.Join(slices.Compact(both), " ")); err != nil {
			return err
		}
	}
	return nil
}

// fillFrom fills the documents of one declaration, one by one. A document changed meanwhile is filled by the change, or
// found again. At the end it returns an error for a duplicate in a unique column: an older release does not know that
// the column is unique.
func (s *Store) fillFrom(ctx context.Context, t *table, source, target string) error {
	cursor, err := s.collection(t).Find(ctx, bson.D{{Key: "cv", Value: source}})
	if err != nil {
		return err
	}
	defer func() { _ = cursor.Close(ctx) }()
	var twice error
	for cursor.Next(ctx) {
		var doc document
		if err := cursor.Decode(&doc); err != nil {
			return err
		}
		values, err := t.schema.Extract(doc.Body)
		if err != nil {
			return fmt.Errorf("record %q: %w", doc.Key, err)
		}
		set := bson.D{{Key: "cv", Value: target}}
		for _, c := range t.columns(values) {
			set = append(set, bson.E{Key: "c." + c.Key, Value: c.Value})
		}
		_, err = s.collection(t).UpdateOne(ctx, bson.D{{Key: "_id", Value: doc.Key}, {Key: "rev", Value: doc.Revision}},
			bson.D{{Key: "$set", Value: set}})
		if mongo.IsDuplicateKeyError(err) {
			twice = fmt.Errorf("record %q has a unique value that another one has: %w", doc.Key, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(cursor.Err(), twice)
}

package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// The names of the engine's own collections and documents.
const (
	metaName      = "authz_meta"
	revisionsName = "authz_rev"
	epochID       = "epoch"
)

// revisionDoc is an account's revision. Its document also has the epoch in which it moved last.
type revisionDoc struct {
	ID       string `bson:"_id"`
	Revision int64  `bson:"rev"`
}

// account returns the account of a revisionID.
func (d revisionDoc) account() string { return d.ID[1:] }

// revisionID returns the id of an account's document, which is not empty for the account "".
func revisionID(account string) string { return ":" + account }

func (s *Store) meta() *mongo.Collection      { return s.db.Collection(metaName) }
func (s *Store) revisions() *mongo.Collection { return s.db.Collection(revisionsName) }

// Bump implements store.Tx.
func (t *tx) Bump(ctx context.Context, account string) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	if !t.writable {
		return 0, store.ErrReadOnly
	}
	if rev, ok := t.bumped[account]; ok {
		return rev, nil
	}
	if err := t.hold(); err != nil {
		return 0, err
	}
	var doc revisionDoc
	err := t.s.revisions().FindOneAndUpdate(t.session(ctx), byID(revisionID(account)), bson.D{
		{Key: "$inc", Value: bson.D{{Key: "rev", Value: int64(1)}}},
		{Key: "$setOnInsert", Value: bson.D{{Key: "epoch", Value: int64(0)}}},
	}, options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&doc)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	t.bumped[account] = doc.Revision
	return doc.Revision, nil
}

// hold takes the slot, or returns an error that makes the change wait for it.
func (t *tx) hold() error {
	if !t.holds {
		if t.holds = t.s.slot.take(); !t.holds {
			t.failed = errQueued
		}
	}
	return t.failed
}

// Revision implements store.Tx.
func (t *tx) Revision(ctx context.Context, account string) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	var doc revisionDoc
	err := t.s.revisions().FindOne(t.session(ctx), byID(revisionID(account))).Decode(&doc)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return 0, t.fail(ctx, err)
	}
	return doc.Revision, nil
}

// seal makes the last step before the commit. It moves the epoch, and writes the epoch to the bumped
// accounts.
func (t *tx) seal() error {
	if len(t.bumped) == 0 {
		return nil
	}
	if err := t.move(); err != nil {
		return err
	}
	ids := make(bson.A, 0, len(t.bumped))
	for account := range t.bumped {
		ids = append(ids, revisionID(account))
	}
	_, err := t.s.revisions().UpdateMany(t.session(t.ctx), bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "epoch", Value: t.epoch}}}})
	return t.fail(t.ctx, err)
}

// move moves the epoch. Every transaction with a bump writes it, and of two that overlap the later writer loses. The
// epoch is written last, and so locked for the shortest time. A change that has lost for a while writes it first:
// otherwise it would go on losing to shorter ones.
func (t *tx) move() error {
	if t.epoch > 0 {
		return nil
	}
	if err := t.ready(t.ctx); err != nil {
		return err
	}
	var doc struct {
		Epoch int64 `bson:"epoch"`
		Lease int64 `bson:"lease_max"`
	}
	err := t.s.meta().FindOneAndUpdate(t.session(t.ctx), byID(epochID), bson.D{{Key: "$inc", Value: bson.D{{Key: "epoch", Value: int64(1)}}}},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&doc)
	if err != nil {
		return t.fail(t.ctx, err)
	}
	t.epoch, t.lease = doc.Epoch, time.Duration(doc.Lease)*time.Millisecond
	return nil
}

package masterkey

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// ErrOtherKey refuses a master key unknown to the store.
var ErrOtherKey = errors.New("the store was made with another master key: bring that one back, on the first line of the file, " +
	"or on a later one to change over to the key on the first")

// CheckStore compares the master key with the fingerprint in the store. The first start writes it.
// If the store's key is on a later line of the file, the key on the first line becomes the store's.
func CheckStore(ctx context.Context, s store.Store, c records.Collections, master resources.MasterKey) error {
	prints := master.Fingerprints()
	var refused error
	err := s.Transact(ctx, func(tx store.Tx) error {
		refused = nil
		rec, err := c.Seals.Get(ctx, tx, records.SealID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return c.Seals.Insert(ctx, tx, records.Seal{ID: records.SealID, Fingerprint: prints[0]})
		case err != nil:
			return err
		case rec.Value.Fingerprint == prints[0]:
			return nil
		case !slices.Contains(prints, rec.Value.Fingerprint):
			refused = otherKey(prints, rec.Value.Fingerprint)
			return nil
		}
		rec.Value.Fingerprint = prints[0]
		return c.Seals.Replace(ctx, tx, rec)
	})
	return errors.Join(err, refused)
}

// KnowsStore refuses a master key if the store's is not in the file. It changes nothing.
func KnowsStore(ctx context.Context, s store.Store, c records.Collections, master resources.MasterKey) error {
	prints := master.Fingerprints()
	fingerprint, err := OfStore(ctx, s, c)
	if err == nil && fingerprint != "" && !slices.Contains(prints, fingerprint) {
		return otherKey(prints, fingerprint)
	}
	return err
}

// OfStore returns the fingerprint of the store's master key, "" before the first start of a gateway.
func OfStore(ctx context.Context, s store.Store, c records.Collections) (fingerprint string, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		rec, err := store.Lookup(c.Seals.Get(ctx, tx, records.SealID))
		if rec != nil {
			fingerprint = rec.Value.Fingerprint
		}
		return err
	})
	return fingerprint, err
}

func otherKey(prints []string, fingerprint string) error {
	return fmt.Errorf("master key %s, the store's is %s: %w", prints[0], fingerprint, ErrOtherKey)
}

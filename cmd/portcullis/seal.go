package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// errOtherKey: with another master key no API key would be known any more, and replicas
// would not understand each other.
var errOtherKey = errors.New("the store was made with another master key: bring that one back, on the first line of the file, " +
	"or on a later one to change over to the key on the first")

// checkSeal holds the master key against the one that the store was made with. The first
// start sets it; a key that was changed over (the former one stands on a later line)
// becomes the store's.
func checkSeal(ctx context.Context, s store.Store, c records.Collections, master resources.MasterKey) error {
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
			refused = fmt.Errorf("master key %s, the store's is %s: %w", prints[0], rec.Value.Fingerprint, errOtherKey)
			return nil
		}
		rec.Value.Fingerprint = prints[0]
		return c.Seals.Replace(ctx, tx, rec)
	})
	return errors.Join(err, refused)
}

package store

import (
	"context"
	"errors"
)

// Read is one of several reads that are made together: of the records that the query matches, where it
// names an index, and else of the record with that key.
type Read struct {
	Schema *Schema
	Key    string
	Query  Query
}

// OneByOne implements Tx.Together for an engine in which several reads cost the same one after the other.
func OneByOne(ctx context.Context, tx Tx, account string, reads ...Read) (revision int64, found [][]Row, err error) {
	if revision, err = tx.Revision(ctx, account); err != nil {
		return 0, nil, err
	}
	found = make([][]Row, len(reads))
	for i, r := range reads {
		if found[i], err = ReadOne(ctx, tx, r); err != nil {
			return 0, nil, err
		}
	}
	return revision, found, nil
}

// ReadOne makes one of several reads.
func ReadOne(ctx context.Context, tx Tx, r Read) ([]Row, error) {
	if r.Query.Index != "" {
		return tx.Find(ctx, r.Schema, r.Query)
	}
	row, err := tx.Get(ctx, r.Schema, r.Key)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []Row{row}, nil
}

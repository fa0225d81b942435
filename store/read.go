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
		if r.Query.Index != "" {
			found[i], err = tx.Find(ctx, r.Schema, r.Query)
		} else {
			var row Row
			if row, err = tx.Get(ctx, r.Schema, r.Key); err == nil {
				found[i] = []Row{row}
			} else if errors.Is(err, ErrNotFound) {
				err = nil
			}
		}
		if err != nil {
			return 0, nil, err
		}
	}
	return revision, found, nil
}

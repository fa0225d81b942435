package store

import (
	"context"
	"errors"
)

// Read is one of several reads made together. It reads the query's records if the query has an index, otherwise the
// record with the key.
type Read struct {
	Schema *Schema
	Key    string
	Query  Query
}

// ReadOne makes one of several reads alone.
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

// ReadAll makes several reads together, and one alone as it costs least.
func ReadAll(ctx context.Context, tx Tx, reads []Read) ([][]Row, error) {
	if len(reads) == 1 {
		rows, err := ReadOne(ctx, tx, reads[0])
		return [][]Row{rows}, err
	}
	_, results, err := tx.Together(ctx, "", reads...)
	return results, err
}

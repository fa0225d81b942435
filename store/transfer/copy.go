package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Errors of Copy and Complete; compare with errors.Is.
var (
	// ErrNotEmpty refuses a target with records and without the mark of this copy.
	ErrNotEmpty = errors.New("the target is not empty; a copy is made into an empty store")
	// ErrOtherCopy refuses a target with the mark of another store's copy.
	ErrOtherCopy = errors.New("the target has the mark of an unfinished copy of another store; empty it first")
	// ErrDiffers refuses a copy unequal to its source at the end.
	ErrDiffers = errors.New("the copy differs from its source, which was changed meanwhile; empty the target, and begin anew")
	// ErrUnfinished refuses an unfinished copy.
	ErrUnfinished = errors.New("the store is an unfinished copy; repeat the `portcullis store copy` or `portcullis store restore` that began it, " +
		"with the same source, or empty the store")
)

// Copier copies a store. Nobody may change either store meanwhile.
type Copier struct {
	From, To    store.Store
	Collections records.Collections
	// Source names the source in the target's mark: a copy goes on only with the same one.
	Source string
	// Progress is called after each page with the collection and how many of its records are written.
	Progress func(collection string, written int)
}

// Copy makes To equal to From, or completes an interrupted copy, and compares the two. It returns what both hold.
func (c Copier) Copy(ctx context.Context) (Digest, error) {
	if err := c.mark(ctx); err != nil {
		return nil, err
	}
	for _, schema := range contents(c.Collections) {
		if err := c.collection(ctx, schema); err != nil {
			return nil, fmt.Errorf("%s: %w", schema.Name, err)
		}
	}
	revs, err := accountRevisions(ctx, c.From)
	if err != nil {
		return nil, err
	}
	for len(revs) > 0 {
		some := revs[:min(page, len(revs))]
		revs = revs[len(some):]
		err := c.To.Transact(ctx, func(tx store.Tx) error {
			for _, r := range some {
				if err := tx.LoadRevision(ctx, r.AccountID, r.Revision); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return c.finish(ctx)
}

// mark marks the target as unfinished, or finds it marked.
func (c Copier) mark(ctx context.Context) error {
	copies := c.Collections.Copies
	return c.To.Transact(ctx, func(tx store.Tx) error {
		rec, err := store.Lookup(copies.Get(ctx, tx, records.CopyID))
		switch {
		case err != nil:
			return err
		case rec != nil && rec.Value.Source != c.Source:
			return ErrOtherCopy
		case rec != nil:
			return nil
		}
		for _, schema := range contents(c.Collections) {
			if rows, err := tx.List(ctx, schema, "", 1); err != nil {
				return err
			} else if len(rows) > 0 {
				return ErrNotEmpty
			}
		}
		return copies.Insert(ctx, tx, records.Copy{ID: records.CopyID, Source: c.Source})
	})
}

// collection copies the records after the target's last one.
func (c Copier) collection(ctx context.Context, schema *store.Schema) error {
	after, written := "", 0
	for {
		rows, err := list(ctx, c.To, schema, after)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		after, written = rows[len(rows)-1].Key, written+len(rows)
	}
	for {
		rows, err := list(ctx, c.From, schema, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := c.load(ctx, schema, rows); err != nil {
			return err
		}
		after, written = rows[len(rows)-1].Key, written+len(rows)
		c.Progress(schema.Name, written)
	}
}

// load writes a batch of rows in one transaction, with their columns filled from their bodies.
func (c Copier) load(ctx context.Context, schema *store.Schema, rows []store.Row) error {
	for i := range rows {
		columns, err := schema.Extract(rows[i].Body)
		if err != nil {
			return fmt.Errorf("record %q: %w", rows[i].Key, err)
		}
		rows[i].Columns = columns
	}
	return c.To.Transact(ctx, func(tx store.Tx) error {
		for _, row := range rows {
			if err := tx.Load(ctx, schema, row); err != nil {
				return fmt.Errorf("record %q: %w", row.Key, err)
			}
		}
		return nil
	})
}

// finish compares the stores and takes the mark away.
func (c Copier) finish(ctx context.Context) (Digest, error) {
	digest, err := Read(ctx, c.From, c.Collections)
	if err != nil {
		return nil, err
	}
	target, err := Read(ctx, c.To, c.Collections)
	if err != nil {
		return nil, err
	}
	if differ := digest.Differences(target); len(differ) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrDiffers, strings.Join(differ, "; "))
	}
	copies := c.Collections.Copies
	return target, c.To.Transact(ctx, func(tx store.Tx) error {
		rec, err := copies.Get(ctx, tx, records.CopyID)
		if err != nil {
			return err
		}
		return copies.Delete(ctx, tx, rec)
	})
}

// Complete returns ErrUnfinished for an unfinished copy.
func Complete(ctx context.Context, s store.Store, c records.Collections) error {
	var unfinished bool
	err := s.View(ctx, func(tx store.Tx) error {
		rec, err := store.Lookup(c.Copies.Get(ctx, tx, records.CopyID))
		unfinished = rec != nil
		return err
	})
	if err == nil && unfinished {
		err = ErrUnfinished
	}
	return err
}

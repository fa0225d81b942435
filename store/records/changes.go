package records

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// changes returns the collection of the records of changes.
func changes() store.Collection[resources.Change] {
	return store.NewCollection(store.Schema{
		Name:    "changes",
		Columns: append(text("account", "actor", "subject"), store.Column{Name: "moved_to", Kind: store.KindInt}, store.Column{Name: "number", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByAccount, Columns: []string{"account", "moved_to", "number"}, Unique: true},
			{Name: ByNewest, Columns: []string{"account", "moved_to", "number"}, Descending: true},
			{Name: ByActor, Columns: []string{"account", "actor", "moved_to", "number"}, Descending: true},
			{Name: BySubject, Columns: []string{"account", "subject", "moved_to", "number"}, Descending: true},
		},
	}, func(c *resources.Change) string { return c.ID }, func(c *resources.Change) []store.Value {
		return []store.Value{
			store.String(c.AccountID), store.String(c.Actor.ID), store.String(c.Subject.ID), store.Int(c.AccountRevision), store.Int(c.Number),
		}
	})
}

const (
	// changeInline is what a record of a change holds of its sides: pages of records are read at once.
	changeInline = 16 << 10
	// changePart is what each part holds of larger ones. No engine holds a record of any size: MongoDB ends at 16 MiB.
	changePart = 1 << 20
)

// ChangePart is a part of the compressed sides of a change, for sides too large for its record.
type ChangePart struct {
	ChangeID string `json:"change_id"`
	Number   int64  `json:"number"`
	Text     []byte `json:"text"`
}

func changeParts() store.Collection[ChangePart] {
	return store.NewCollection(store.Schema{Name: "change_parts"}, func(p *ChangePart) string {
		return compositeKey(p.ChangeID, fmt.Sprintf("%06d", p.Number))
	}, func(*ChangePart) []store.Value { return nil })
}

// InsertChange inserts the record of a change, and large sides in parts.
func (c Collections) InsertChange(ctx context.Context, tx store.Tx, change resources.Change) error {
	if len(change.Before)+len(change.After) > changeInline {
		packed, err := packSides(change.ChangeSides)
		if err != nil {
			return err
		}
		change.ChangeSides = resources.ChangeSides{}
		for text := range slices.Chunk(packed, changePart) {
			if err := c.ChangeParts.Insert(ctx, tx, ChangePart{change.ID, change.Parts, text}); err != nil {
				return err
			}
			change.Parts++
		}
	}
	return c.Changes.Insert(ctx, tx, change)
}

// JoinChange reads the sides of a change from its parts.
func (c Collections) JoinChange(ctx context.Context, tx store.Tx, change *resources.Change) error {
	if change.Parts == 0 {
		return nil
	}
	var packed []byte
	for n := range change.Parts {
		part, err := c.ChangeParts.Get(ctx, tx, c.ChangeParts.Key(ChangePart{ChangeID: change.ID, Number: n}))
		if err != nil {
			return fmt.Errorf("part %d of the change %s: %w", n, change.ID, err)
		}
		packed = append(packed, part.Value.Text...)
	}
	return json.NewDecoder(flate.NewReader(bytes.NewReader(packed))).Decode(&change.ChangeSides)
}

// packSides compresses the sides of a change: lists repeat themselves, and one transaction writes all of them, with a
// bound of the server on its size.
func packSides(sides resources.ChangeSides) ([]byte, error) {
	var packed bytes.Buffer
	writer, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		err = json.NewEncoder(writer).Encode(sides)
	}
	if err != nil {
		return nil, err
	}
	err = writer.Close()
	return packed.Bytes(), err
}

// DeleteChange deletes the record of a change with its parts, which never change.
func (c Collections) DeleteChange(ctx context.Context, tx store.Tx, rec store.Record[resources.Change]) error {
	for n := range rec.Value.Parts {
		part := store.Record[ChangePart]{Value: ChangePart{ChangeID: rec.Value.ID, Number: n}, Revision: 1}
		if err := c.ChangeParts.Delete(ctx, tx, part); err != nil {
			return fmt.Errorf("part %d of the change %s: %w", n, rec.Value.ID, err)
		}
	}
	return c.Changes.Delete(ctx, tx, rec)
}

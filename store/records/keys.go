package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// KeysByMasterKey counts the usable API keys by the fingerprint of their master key; "" has those of earlier releases
// without one.
func (c Collections) KeysByMasterKey(ctx context.Context, s store.Store, now resources.Time) (map[string]int, error) {
	out := map[string]int{}
	for after := ""; ; {
		var rows []store.Record[resources.APIKey]
		err := s.View(ctx, func(tx store.Tx) (err error) {
			rows, err = c.APIKeys.List(ctx, tx, after, verifyPage)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, rec := range rows {
			if rec.Value.Active(now) {
				out[rec.Value.MadeWith]++
			}
			after = rec.Value.ID
		}
		if len(rows) < verifyPage {
			return out, nil
		}
	}
}

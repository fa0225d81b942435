package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// KeysByMasterKey counts the API keys that can be used, by the fingerprint of the master key that they
// were made with; "" has those of releases that did not note it.
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

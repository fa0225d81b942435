package records

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

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

package storetest

import (
	"encoding/json"

	"github.com/portcullis-authz/portcullis/store"
)

// thing is a record with every kind of column and index.
type thing struct {
	ID      string          `json:"id"`
	Account string          `json:"account"`
	Name    string          `json:"name"`
	Tag     string          `json:"tag,omitempty"`
	Rank    int64           `json:"rank"`
	Count   int             `json:"count,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"`
}

// link is a record of a second collection, for transactions over two.
type link struct {
	From string `json:"from"`
	To   string `json:"to"`
}

const (
	byName   = "by_name"   // unique (account, name)
	byTag    = "by_tag"    // unique (tag), a tag may be nothing
	byRank   = "by_rank"   // (account, rank)
	byLatest = "by_latest" // (account, rank), descending
	byTitle  = "by_title"  // (account, name), descending
	byTarget = "by_target" // links: (target)
)

func collections() (store.Collection[thing], store.Collection[link]) {
	str := func(name string) store.Column { return store.Column{Name: name, Kind: store.KindString} }
	things := store.NewCollection(store.Schema{
		Name:    "test_things",
		Columns: []store.Column{str("account"), str("name"), str("tag"), {Name: "rank", Kind: store.KindInt}},
		Indexes: []store.Index{
			{Name: byName, Columns: []string{"account", "name"}, Unique: true},
			{Name: byTag, Columns: []string{"tag"}, Unique: true},
			{Name: byRank, Columns: []string{"account", "rank"}},
			{Name: byTitle, Columns: []string{"account", "name"}, Descending: true},
			{Name: byLatest, Columns: []string{"account", "rank"}, Descending: true},
		},
	}, func(v *thing) string { return v.ID }, func(v *thing) []store.Value {
		return []store.Value{store.String(v.Account), store.String(v.Name), store.OptionalString(v.Tag), store.Int(v.Rank)}
	})
	links := store.NewCollection(store.Schema{
		Name:    "test_links",
		Columns: []store.Column{str("target")},
		Indexes: []store.Index{{Name: byTarget, Columns: []string{"target"}}},
	}, func(v *link) string { return v.From }, func(v *link) []store.Value {
		return []store.Value{store.String(v.To)}
	})
	return things, links
}

// Schemas returns the collections that an engine under test must have.
func Schemas() []*store.Schema {
	things, links := collections()
	return []*store.Schema{things.Schema(), links.Schema()}
}

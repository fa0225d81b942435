package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
)

// Together implements store.Tx. Reads of records by their keys, and queries that differ in their last value
// alone, are one find each: what costs is the round trip.
func (t *tx) Together(ctx context.Context, account string, reads ...store.Read) (revision int64, rows [][]store.Row, err error) {
	var alike, alone [][]int // by their places in reads
	for i, r := range reads {
		switch index := slices.IndexFunc(alike, func(offsets []int) bool { return joins(reads[offsets[0]], r) }); {
		case index >= 0:
			alike[index] = append(alike[index], i)
		case joins(r, r):
			alike = append(alike, []int{i})
		default:
			alone = append(alone, []int{i})
		}
	}
	if revision, err = t.Revision(ctx, account); err != nil {
		return 0, nil, err
	}
	rows = make([][]store.Row, len(reads))
	for _, places := range slices.Concat(alike, alone) {
		if len(places) == 1 {
			rows[places[0]], err = store.ReadOne(ctx, t, reads[places[0]])
		} else {
			err = t.findAlike(ctx, reads, places, rows)
		}
		if err != nil {
			return 0, nil, err
		}
	}
	return revision, rows, nil
}

// joins reports whether two reads can be one find.
func joins(a, b store.Read) bool {
	if a.Schema != b.Schema || a.Query.Index != b.Query.Index {
		return false
	}
	if a.Query.Index == "" {
		return true
	}
	whole := func(q store.Query) bool {
		return q.After == nil && q.Limit == 0 && q.Prefix == "" && len(q.Equal) > 0 && !q.Equal[len(q.Equal)-1].IsNull()
	}
	last := len(a.Query.Equal) - 1
	return whole(a.Query) && whole(b.Query) && len(b.Query.Equal)-1 == last && slices.Equal(a.Query.Equal[:last], b.Query.Equal[:last])
}

// findAlike makes one find of several reads, and sorts what it found to the places of each.
func (t *tx) findAlike(ctx context.Context, reads []store.Read, places []int, rows [][]store.Row) error {
	first := reads[places[0]]
	tab, err := t.table(first.Schema)
	if err != nil {
		return err
	}
	if err := t.ready(ctx); err != nil {
		return err
	}
	ofRead, ofRow := alikeBy(tab, first)
	index, values := map[store.Value][]int{}, bson.A{}
	for _, place := range places {
		v := ofRead(reads[place])
		if index[v] == nil {
			values = append(values, bind(v))
		}
		index[v] = append(index[v], place)
	}
	filter, opts := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: values}}}}, options.Find()
	if q := first.Query; q.Index != "" {
		if filter, err = tab.filter(q, false); err != nil || filter == nil {
			return err
		}
		last, ix := len(q.Equal)-1, tab.schema.Index(q.Index)
		filter[last].Value = bson.D{{Key: "$in", Value: values}}
		opts.SetSort(tab.sortBy(ix, last)).SetHint(tab.indexName(ix))
	}
	docs, err := t.documents(ctx, tab, filter, opts)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		row := tab.row(doc)
		for _, place := range index[ofRow(row)] {
			rows[place] = append(rows[place], row)
		}
	}
	return nil
}

// alikeBy returns what tells the reads of one find apart: a value of the read, and of a row.
func alikeBy(tab *table, first store.Read) (ofRead func(store.Read) store.Value, ofRow func(store.Row) store.Value) {
	if first.Query.Index == "" {
		return func(r store.Read) store.Value { return store.String(r.Key) }, func(row store.Row) store.Value { return store.String(row.Key) }
	}
	last := len(first.Query.Equal) - 1
	index := tab.column(tab.schema.Index(first.Query.Index).Columns[last])
	return func(r store.Read) store.Value { return r.Query.Equal[last] }, func(row store.Row) store.Value { return row.Columns[index] }
}

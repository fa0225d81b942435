package mongodb_test

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestEveryQueryUsesAnIndex has the server explain every command it gets, from the start on. None
// reads a whole collection, and none sorts what an index has in order.
func TestEveryQueryUsesAnIndex(t *testing.T) {
	for name, schemas := range map[string][]*store.Schema{
		"the suite's collections": storetest.Schemas(), "the house's collections": records.NewCollections().Schemas(),
	} {
		t.Run(name, func(t *testing.T) {
			url, sent := database(t), &recorder{}
			// The second start has something to fill: the first one knew no columns.
			bare := make([]*store.Schema, len(schemas))
			for i, s := range schemas {
				bare[i] = &store.Schema{Name: s.Name, Extract: func([]byte) ([]store.Value, error) { return nil, nil }}
			}
			before := open(t, url, bare...)
			must.Do(t, before.Transact(t.Context(), func(tx store.Tx) error { return insertEmpty(t, tx, bare) }))
			s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: filled(schemas), Monitor: sent.monitor()}))(t)
			t.Cleanup(func() { _ = s.Close() })
			useEverything(t, s, schemas)
			explainAll(t, url, sent.all())
		})
	}
}

func insertEmpty(t *testing.T, tx store.Tx, schemas []*store.Schema) (err error) {
	for _, schema := range schemas {
		err = errors.Join(err, tx.Insert(t.Context(), schema, store.Row{Key: "old", Body: []byte("{}")}))
	}
	return err
}

// filled takes the columns of any body for the same values.
func filled(schemas []*store.Schema) []*store.Schema {
	out := make([]*store.Schema, len(schemas))
	for i, s := range schemas {
		out[i] = &store.Schema{Name: s.Name, Columns: s.Columns, Indexes: s.Indexes, Extract: func([]byte) ([]store.Value, error) {
			return values(s.Columns, "old", 0), nil
		}}
	}
	return out
}

func values(columns []store.Column, text string, number int64) (out []store.Value) {
	for _, c := range columns {
		if c.Kind == store.KindInt {
			out = append(out, store.Int(number))
		} else {
			out = append(out, store.String(text))
		}
	}
	return out
}

// useEverything makes each kind of call on each collection and index.
func useEverything(t *testing.T, s *mongodb.Store, schemas []*store.Schema) {
	t.Helper()
	ctx := t.Context()
	err := s.Transact(ctx, func(tx store.Tx) error {
		_, all := tx.Bump(ctx, "a")
		for _, schema := range schemas {
			row := store.Row{Key: "a", Body: []byte("{}"), Columns: values(schema.Columns, "v", 1)}
			all = errors.Join(all, tx.Insert(ctx, schema, row))
			row.Revision, row.Columns = 1, values(schema.Columns, "w", 2)
			all = errors.Join(all, tx.Replace(ctx, schema, row), queryAll(t, tx, schema), tx.Delete(ctx, schema, "a", 2), deleteAll(t, tx, schema))
		}
		return all
	})
	_, freshErr := s.Freshness(ctx)
	_, _, changed := s.Changes(ctx, 0, 10)
	err = errors.Join(err, freshErr, changed, s.Check(ctx), s.Lease(ctx, 1),
		s.View(ctx, func(tx store.Tx) error { _, err := tx.Revision(ctx, "a"); return err }))
	if err != nil {
		t.Fatal(err)
	}
}

// queryAll asks each index with each number of values, from the start and from a cursor, and for a prefix.
func queryAll(t *testing.T, tx store.Tx, schema *store.Schema) (all error) {
	for _, ix := range schema.Indexes {
		var columns []store.Column
		for _, name := range ix.Columns {
			columns = append(columns, schema.Columns[slices.IndexFunc(schema.Columns, func(c store.Column) bool { return c.Name == name })])
		}
		for n := range len(columns) + 1 {
			q := store.Query{Index: ix.Name, Equal: values(columns[:n], "w", 2)}
			_, err := tx.Find(t.Context(), schema, q)
			_, scanned := tx.Scan(t.Context(), schema, q)
			_, counted := tx.Count(t.Context(), schema, q)
			q.After, q.Limit = &store.Cursor{Values: values(columns[n:], "u", 1), Key: "k"}, 10
			_, behind := tx.Find(t.Context(), schema, q)
			_, _, together := tx.Together(t.Context(), "w",
				store.Read{Schema: schema, Query: store.Query{Index: ix.Name, Equal: values(columns[:n], "w", 2)}},
				store.Read{Schema: schema, Query: store.Query{Index: ix.Name, Equal: values(columns[:n], "w", 3)}},
				store.Read{Schema: schema, Key: "a"}, store.Read{Schema: schema, Key: "b"})
			all = errors.Join(all, err, scanned, counted, behind, together)
			if n == len(columns) || columns[n].Kind != store.KindString {
				continue
			}
			q.Prefix = "u"
			for _, q.After = range []*store.Cursor{q.After, nil} {
				_, err = tx.Find(t.Context(), schema, q)
				_, scanned = tx.Scan(t.Context(), schema, q)
				_, counted = tx.Count(t.Context(), schema, q)
				all = errors.Join(all, err, scanned, counted)
			}
		}
	}
	return all
}

// deleteAll deletes by each index.
func deleteAll(t *testing.T, tx store.Tx, schema *store.Schema) (all error) {
	for _, ix := range schema.Indexes {
		first := schema.Columns[slices.IndexFunc(schema.Columns, func(c store.Column) bool { return c.Name == ix.Columns[0] })]
		all = errors.Join(all, tx.DeleteAll(t.Context(), schema, store.Query{Index: ix.Name, Equal: values([]store.Column{first}, "w", 2)}))
	}
	return all
}

// explainAll asks the server how it runs each command that selects documents.
func explainAll(t *testing.T, url string, sent []command) {
	t.Helper()
	client := must.Get(mongo.Connect(options.Client().ApplyURI(url)))(t)
	defer func() { _ = client.Disconnect(t.Context()) }()
	explained := map[string]int{}
	for _, c := range sent {
		if !slices.Contains([]string{"find", "aggregate", "distinct", "findAndModify", "update", "delete"}, c.name) {
			continue
		}
		db, _ := c.lookup("$db").(string)
		plain := bson.D{}
		must.Do(t, bson.Unmarshal(c.raw, &plain))
		plain = slices.DeleteFunc(plain, func(e bson.E) bool {
			return slices.Contains([]string{
				"lsid", "txnNumber", "autocommit", "startTransaction", "readConcern", "writeConcern", "$clusterTime", "$db", "$readPreference", "maxTimeMS",
			}, e.Key)
		})
		plan := bson.M{}
		err := client.Database(db).RunCommand(t.Context(), bson.D{{Key: "explain", Value: plain}, {Key: "verbosity", Value: "queryPlanner"}}).Decode(&plan)
		if err != nil {
			t.Errorf("%v: %v", plain, err)
			continue
		}
		explained[c.name]++
		if got := stages(plan); len(got) == 0 || slices.Contains(got, "COLLSCAN") || slices.Contains(got, "SORT") {
			t.Errorf("%v\nis run by %v", plain, got)
		}
	}
	for _, name := range []string{"find", "aggregate", "distinct", "findAndModify", "update", "delete"} {
		if explained[name] == 0 {
			t.Errorf("no %s was sent", name)
		}
	}
}

// stages are those of the plans that won, wherever they stand in the answer.
func stages(plan any) (out []string) {
	switch v := plan.(type) {
	case bson.M:
		for key, value := range v {
			name, isName := value.(string)
			switch {
			case key == "stage" && isName:
				out = append(out, name)
			case key != "rejectedPlans":
				out = append(out, stages(value)...)
			}
		}
	case bson.D:
		for _, e := range v {
			out = append(out, stages(bson.M{e.Key: e.Value})...)
		}
	case bson.A:
		for _, value := range v {
			out = append(out, stages(value)...)
		}
	}
	return out
}

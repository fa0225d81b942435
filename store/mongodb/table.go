package mongodb

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/portcullis-authz/portcullis/store"
)

// ownPrefix starts the names of the engine's own collections.
const ownPrefix = "authz_"

// table is the declaration of one collection.
type table struct {
	schema *store.Schema
	// declared names the columns that a document has.
	declared string
}

func newTables(schemas []*store.Schema) (map[string]*table, error) {
	out := make(map[string]*table, len(schemas))
	for _, s := range schemas {
		if err := s.Validate(); err != nil {
			return nil, err
		}
		if strings.HasPrefix(s.Name, ownPrefix) || out[s.Name] != nil {
			return nil, fmt.Errorf("the name of the collection %q must not begin with %s and must be declared once", s.Name, ownPrefix)
		}
		out[s.Name] = &table{schema: s, declared: declared(s.Columns)}
	}
	return out, nil
}

func (s *Store) collection(t *table) *mongo.Collection { return s.db.Collection(t.schema.Name) }

// declared returns the sorted list of columns with their kinds.
func declared(columns []store.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = columnName(c)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// columnName returns a name with the kind: a column that is declared anew with another kind is another
// column.
func columnName(c store.Column) string {
	if c.Kind == store.KindInt {
		return c.Name + "_i"
	}
	return c.Name + "_s"
}

// field returns the path of a column in a document.
func (t *table) field(name string) string { return "c." + columnName(t.schema.Columns[t.column(name)]) }

// column returns the position of a column in the schema.
func (t *table) column(name string) int {
	return slices.IndexFunc(t.schema.Columns, func(c store.Column) bool { return c.Name == name })
}

// columns returns the values of a row as a document has them, without the null ones.
func (t *table) columns(values []store.Value) bson.D {
	out := bson.D{}
	for i, v := range values {
		if !v.IsNull() {
			out = append(out, bson.E{Key: columnName(t.schema.Columns[i]), Value: bind(v)})
		}
	}
	return out
}

func bind(v store.Value) any {
	if v.Kind() == store.KindInt {
		return v.Number()
	}
	return v.Text()
}

func (t *table) row(doc document) store.Row {
	out := store.Row{Key: doc.Key, Revision: doc.Revision, Body: doc.Body, Columns: make([]store.Value, len(t.schema.Columns))}
	for i, c := range t.schema.Columns {
		name := columnName(c)
		for _, e := range doc.Columns {
			if e.Key != name {
				continue
			}
			switch v := e.Value.(type) {
			case int64:
				out.Columns[i] = store.Int(v)
			case string:
				out.Columns[i] = store.String(v)
			}
		}
	}
	return out
}

// rows returns the records of documents, nil for none.
func (t *table) rows(docs []document) (out []store.Row) {
	out = slices.Grow(out, len(docs))
	for _, doc := range docs {
		out = append(out, t.row(doc))
	}
	return out
}

// filter returns the filter of a query: equality on the first columns of the index, the range of a prefix on the next
// one, and the place after the cursor. It leaves out records with null in a column of the index, as partial indexes do. It is nil
// for a query that matches no record, one for null.
func (t *table) filter(q store.Query, paged bool) (bson.D, error) {
	ix := t.schema.Index(q.Index)
	if len(q.Equal) > len(ix.Columns) {
		return nil, fmt.Errorf("store: %s: %d values for the %d columns of index %s",
			t.schema.Name, len(q.Equal), len(ix.Columns), ix.Name)
	}
	if q.Prefix != "" && len(q.Equal) == len(ix.Columns) {
		_, err := t.schema.PrefixEnd(q)
		return nil, err
	}
	filter := bson.D{}
	for i, name := range ix.Columns {
		switch field := t.field(name); {
		case i == len(q.Equal) && q.Prefix != "":
			bounds, err := t.prefixed(q)
			if err != nil {
				return nil, err
			}
			filter = append(filter, bson.E{Key: field, Value: bounds})
		case i >= len(q.Equal):
			filter = append(filter, bson.E{Key: field, Value: bson.D{{Key: "$exists", Value: true}}})
		case q.Equal[i].IsNull():
			return nil, nil
		default:
			filter = append(filter, bson.E{Key: field, Value: bind(q.Equal[i])})
		}
	}
	if paged && q.After != nil {
		bound, err := t.afterCursor(ix, len(q.Equal), *q.After)
		if err != nil {
			return nil, err
		}
		filter = append(filter, bound...)
	}
	return filter, nil
}

// prefixed returns the bounds of the texts that begin with the query's prefix.
func (t *table) prefixed(q store.Query) (bson.D, error) {
	end, err := t.schema.PrefixEnd(q)
	bounds := bson.D{{Key: "$gte", Value: q.Prefix}}
	if end != "" {
		bounds = append(bounds, bson.E{Key: "$lt", Value: end})
	}
	return bounds, err
}

// afterCursor selects the records after a place in the index's order: a bound on the first of the ordering
// columns, for the index, and a chain of comparisons that makes it exact.
func (t *table) afterCursor(ix store.Index, n int, after store.Cursor) (bson.D, error) {
	rest := ix.Columns[n:]
	if len(after.Values) != len(rest) {
		return nil, fmt.Errorf("store: %s: a cursor of %d values for the %d columns that order the query",
			t.schema.Name, len(after.Values), len(rest))
	}
	strict, source := "$gt", "$gte"
	if ix.Descending {
		strict, source = "$lt", "$lte"
	}
	fields, values := make([]string, 0, len(rest)+1), make([]any, 0, len(rest)+1)
	for i, name := range rest {
		fields, values = append(fields, t.field(name)), append(values, bind(after.Values[i]))
	}
	if len(order(ix, n)) > len(rest) {
		fields, values = append(fields, "_id"), append(values, after.Key)
	}
	ladder := bson.A{}
	for i := range fields {
		step := bson.D{}
		for j := range i {
			step = append(step, bson.E{Key: fields[j], Value: values[j]})
		}
		ladder = append(ladder, append(step, bson.E{Key: fields[i], Value: bson.D{{Key: strict, Value: values[i]}}}))
	}
	return bson.D{
		{Key: "$and", Value: bson.A{bson.D{{Key: fields[0], Value: bson.D{{Key: source, Value: values[0]}}}}}},
		{Key: "$or", Value: ladder},
	}, nil
}

// order returns the columns that order a query: the rest of the index's columns, then the key. A unique
// index has no ties and does not hold the key.
func order(ix store.Index, n int) []string {
	rest := slices.Clone(ix.Columns[n:])
	if ix.Unique && len(rest) > 0 {
		return rest
	}
	return append(rest, "_id")
}

package sqlite

import (
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/store"
)

// query returns the query's text, one of texts, and args with the query's arguments appended.
func (t *table) query(texts map[shape]string, args []any, q store.Query) (string, []any, error) {
	args, err := t.matched(args, q)
	if err != nil {
		return "", nil, err
	}
	ix := t.schema.Index(q.Index)
	if q.After != nil {
		rest := ix.Columns[len(q.Equal):]
		if len(q.After.Values) != len(rest) {
			return "", nil, fmt.Errorf("store: %s: a cursor of %d values for the %d columns that order the query",
				t.schema.Name, len(q.After.Values), len(rest))
		}
		for _, v := range q.After.Values {
			args = append(args, bind(v))
		}
		if len(order(ix, len(q.Equal))) > len(rest) {
			args = append(args, q.After.Key)
		}
	}
	text := texts[shapeOf(q, q.After != nil)]
	if q.Limit > 0 {
		return text, append(args, int64(q.Limit)), nil
	}
	return text, append(args, int64(-1)), nil
}

// matched returns args with the values of the query's Equal and the range of its Prefix appended.
func (t *table) matched(args []any, q store.Query) ([]any, error) {
	ix := t.schema.Index(q.Index)
	if len(q.Equal) > len(ix.Columns) {
		return nil, fmt.Errorf("store: %s: %d values for the %d columns of index %s",
			t.schema.Name, len(q.Equal), len(ix.Columns), ix.Name)
	}
	args = slices.Grow(args, len(ix.Columns)+4)
	for _, v := range q.Equal {
		args = append(args, bind(v))
	}
	if q.Prefix == "" {
		return args, nil
	}
	end, err := t.schema.PrefixEnd(q)
	if err != nil {
		return nil, err
	}
	if end == "" {
		return append(args, q.Prefix, []byte{}), nil // SQLite has every blob behind every text
	}
	return append(args, q.Prefix, end), nil
}

func bind(v store.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == store.KindInt:
		return v.Number()
	default:
		return v.Text()
	}
}

package sqlite

import (
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/store"
)

// query returns the query's text, one of texts, and args with the query's arguments appended.
func (t *table) query(texts map[shape]string, args []any, q store.Query) (string, []any, error) {
	args, err := t.equal(args, q)
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
	text := texts[shape{q.Index, len(q.Equal), q.After != nil}]
	if q.Limit > 0 {
		return text, append(args, int64(q.Limit)), nil
	}
	return text, append(args, int64(-1)), nil
}

func (t *table) equal(args []any, q store.Query) ([]any, error) {
	ix := t.schema.Index(q.Index)
	if len(q.Equal) > len(ix.Columns) {
		return nil, fmt.Errorf("store: %s: %d values for the %d columns of index %s",
			t.schema.Name, len(q.Equal), len(ix.Columns), ix.Name)
	}
	args = slices.Grow(args, len(ix.Columns)+2)
	for _, v := range q.Equal {
		args = append(args, bind(v))
	}
	return args, nil
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

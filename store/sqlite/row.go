package sqlite

import (
	"database/sql/driver"
	"fmt"

	"github.com/portcullis-authz/portcullis/store"
)

// record is what a statement that selects a record gives: key, revision, body, columns.
func record(row []driver.Value) (store.Row, error) {
	out := store.Row{Columns: make([]store.Value, len(row)-3)}
	if err := scan(row[:3], []any{&out.Key, &out.Revision, &out.Body}); err != nil {
		return store.Row{}, err
	}
	for i, v := range row[3:] {
		switch v := v.(type) {
		case int64:
			out.Columns[i] = store.Int(v)
		case string:
			out.Columns[i] = store.String(v)
		}
	}
	return out, nil
}

// scan takes values of the types that the statement's text promises.
func scan(row []driver.Value, into []any) error {
	if len(row) != len(into) {
		return fmt.Errorf("a row of %d values, not %d", len(row), len(into))
	}
	for i, v := range row {
		ok := false
		switch to := into[i].(type) {
		case *int64:
			*to, ok = v.(int64)
		case *string:
			*to, ok = v.(string)
		case *[]byte:
			*to, ok = v.([]byte)
		}
		if !ok {
			return fmt.Errorf("column %d of a row is a %T", i+1, v)
		}
	}
	return nil
}

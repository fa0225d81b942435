package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/store"
)

var errPlace = errors.New("a value of an index is neither a string nor an integer")

// scan copies a row into variables of the types that the statement returns.
func scan(row []driver.Value, targets []any) error {
	if len(row) != len(targets) {
		return fmt.Errorf("a row of %d values, not %d", len(row), len(targets))
	}
	for i, v := range row {
		ok := false
		switch target := targets[i].(type) {
		case *int64:
			*target, ok = v.(int64)
		case *string:
			*target, ok = v.(string)
		case *[]byte:
			*target, ok = v.([]byte)
		}
		if !ok {
			return fmt.Errorf("column %d of a row is a %T", i+1, v)
		}
	}
	return nil
}

// cursor returns the place that a row of a key and columns names.
func cursor(row []driver.Value) (store.Cursor, error) {
	values := make([]store.Value, 0, len(row))
	for _, v := range row {
		switch v := v.(type) {
		case string:
			values = append(values, store.String(v))
		case int64:
			values = append(values, store.Int(v))
		default:
			return store.Cursor{}, errPlace
		}
	}
	return store.Cursor{Key: values[0].Text(), Values: slices.Clip(values[1:])}, nil
}

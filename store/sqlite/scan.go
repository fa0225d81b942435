package sqlite

import (
	"database/sql/driver"
	"fmt"
)

// scan copies a row into variables of the types that the statement returns.
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

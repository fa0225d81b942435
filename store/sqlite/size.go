package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Bytes returns what the data file and its log take on disk.
func (s *Store) Bytes(context.Context) (total int64, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(s.path + suffix)
		switch {
		case err == nil:
			total += info.Size()
		case suffix == "" || !errors.Is(err, fs.ErrNotExist): // the log is gone while nothing is in it
			return 0, fmt.Errorf("store/sqlite: %w", err)
		}
	}
	return total, nil
}

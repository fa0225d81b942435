package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	sqlite3 "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/portcullis-authz/portcullis/store"
)

// Errors of Open, with texts for the operator; compare with errors.Is.
var (
	// ErrInUse is the error where another process has the data folder open.
	ErrInUse = errors.New("in use by another process")
	// ErrNewerFormat is the error where a newer release wrote the file; nothing in it was changed.
	ErrNewerFormat = errors.New("written by a newer release")
	// ErrCorrupt refuses a file that is damaged, or not a database of this program; nothing in it was changed. A
	// transaction's error after a damaged page wraps it, too.
	ErrCorrupt = errors.New("damaged, or no database of this program")
)

var (
	errOver   = errors.New("store: the transaction is over")
	errNoRoom = errors.New("the disk takes no writes")
	errClosed = store.Unavailable(errors.New("sqlite: closed"))
)

// unavailable returns an error that is both err and store.ErrUnavailable.
func unavailable(err error) error {
	return store.Unavailable(fmt.Errorf("sqlite: %w", err))
}

// translate turns a driver's error into one of the contract, which has the driver's as text only.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return unavailable(cause)
	}
	switch {
	case errors.Is(err, errNoRow): // a statement on the engine's own record
		return unavailable(fmt.Errorf("%w: its own record is missing", ErrCorrupt))
	case isCorrupt(err):
		return unavailable(fmt.Errorf("%w: %v", ErrCorrupt, err))
	case isNoRoom(err):
		return unavailable(fmt.Errorf("%w: %v", errNoRoom, err))
	}
	return unavailable(fmt.Errorf("%v", err))
}

func isCorrupt(err error) bool {
	c := code(err) & 0xff
	return c == codes.SQLITE_CORRUPT || c == codes.SQLITE_NOTADB
}

// isNoRoom reports whether a disk that is full, or a limit on its use, refused a write.
func isNoRoom(err error) bool {
	return slices.Contains([]int{
		codes.SQLITE_FULL, codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_FSYNC, codes.SQLITE_IOERR_TRUNCATE, codes.SQLITE_IOERR_SHMSIZE,
	}, code(err))
}

// isFull reports whether the disk had no room for a write.
func isFull(err error) bool { return code(err) == codes.SQLITE_FULL }

// isUnique reports whether a unique index or the key refused a statement. SQLite has undone that
// statement and nothing else.
func isUnique(err error) bool {
	c := code(err)
	return c == codes.SQLITE_CONSTRAINT_UNIQUE || c == codes.SQLITE_CONSTRAINT_PRIMARYKEY
}

func code(err error) int {
	if e, ok := errors.AsType[*sqlite3.Error](err); ok {
		return e.Code()
	}
	return 0
}

package sqlite

import (
	"context"
	"fmt"
	"net/url"
	"os"
)

// mark names a state of the store: its generation, and the number of its last transaction.
type mark struct {
	generation string
	seq        int64
}

// unknown is the number of a mark that could not be read.
const unknown = -1

// fits reports whether a data file with this mark can belong to a log begun on base. last is the mark of the log's
// last transaction. The number never becomes smaller.
func (m mark) fits(base, last mark) bool {
	return base.seq == unknown || base.seq <= m.seq && m.seq <= last.seq && (m.generation == base.generation || m.generation == last.generation)
}

const (
	markText = "SELECT generation, seq FROM authz_meta WHERE id = 1"
	baseText = "SELECT generation, seq, base_generation, base_seq FROM authz_meta WHERE id = 1"
)

// markOf reads the mark of a data file without its log. It is zero if the store's tables are in the log
// alone.
func markOf(ctx context.Context, path string) (m mark, err error) {
	ses, err := newSession(opener(location(path, url.Values{"immutable": {"1"}})))
	if err != nil {
		return mark{}, err
	}
	defer ses.close()
	var tables int64
	err = ses.one(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'authz_meta'", nil, []any{&tables})
	if err != nil || tables == 0 {
		return mark{}, err
	}
	return m, ses.one(ctx, markText, nil, []any{&m.generation, &m.seq})
}

// belongs returns an error for a data file beside the log of another one: SQLite would move that log into it. Somebody
// overwrote the file after its process was killed, or before.
func belongs(ctx context.Context, path string) error {
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
		return nil //nolint:nilerr // without a log there is nothing to belong to
	}
	// A gateway may move the log meanwhile, so the process reads the base before the file, and the last state after it.
	base, _, err := baseOf(ctx, path)
	if err != nil {
		return err
	}
	mark, err := markOf(ctx, path)
	if err != nil { // a process was killed while it moved the log, without which the file is not whole
		return nil //nolint:nilerr // the log completes it
	}
	_, last, err := baseOf(ctx, path)
	if err != nil {
		return err
	}
	if !mark.fits(base, last) {
		return fmt.Errorf("the data file %s is %w: it and its log %s-wal are not of the same time; one of them was overwritten", path, ErrCorrupt, path)
	}
	return nil
}

// baseOf reads what the log of a data file was begun on, and the last state in it. The base is unknown in a
// file of an older format.
func baseOf(ctx context.Context, path string) (base, last mark, err error) {
	ses, err := newSession(opener(location(path, lookOnly())))
	if err != nil {
		return mark{}, mark{}, fmt.Errorf("the data file %s can't be opened: %w", path, translate(ctx, err))
	}
	defer ses.close()
	var version int64
	err = ses.one(ctx, "PRAGMA user_version", nil, []any{&version})
	if err == nil && version < format {
		return mark{seq: unknown}, mark{}, nil
	}
	if err == nil {
		err = ses.one(ctx, baseText, nil, []any{&last.generation, &last.seq, &base.generation, &base.seq})
	}
	if err != nil {
		return mark{}, mark{}, fmt.Errorf("the data file %s can't be read: %w", path, translate(ctx, err))
	}
	return base, last, nil
}

package sqlite

import (
	"context"
	"fmt"
)

// applicationID marks the file as this program's in SQLite's header ("PRTC"). format is the number of
// the layout of the engine's own tables and of a collection's table.
const (
	applicationID = 0x50525443
	format        = 2
)

// ownTables returns the statements that make the engine's own tables.
func ownTables() []string {
	return []string{
		`CREATE TABLE authz_meta (
			id INTEGER PRIMARY KEY CHECK (id = 1),
			generation TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, probe INTEGER NOT NULL,
			base_generation TEXT NOT NULL DEFAULT '', base_seq INTEGER NOT NULL DEFAULT 0
		) STRICT`,
		`INSERT INTO authz_meta (id, generation, epoch, seq, probe) VALUES (1, '', 0, 0, 0)`,
		`CREATE TABLE authz_rev (account TEXT NOT NULL PRIMARY KEY, rev INTEGER NOT NULL, epoch INTEGER NOT NULL) STRICT`,
		`CREATE INDEX authz_rev_epoch ON authz_rev (epoch)`,
	}
}

// addedTables returns the statements that bring the engine's own tables from the format before to this one.
func addedTables() []string {
	return []string{
		"ALTER TABLE authz_meta ADD COLUMN base_generation TEXT NOT NULL DEFAULT ''",
		"ALTER TABLE authz_meta ADD COLUMN base_seq INTEGER NOT NULL DEFAULT 0",
	}
}

// inspect reads the file before anything can change it: a connection with the usual pragmas would
// already turn another program's file into a WAL one, and the last one that is closed moves the log into
// the file unless it only reads.
func inspect(ctx context.Context, path string) error {
	ses, err := newSession(opener(location(path, lookOnly())))
	if err != nil {
		return fmt.Errorf("the data file %s can't be read: %w", path, translate(ctx, err))
	}
	defer ses.close()
	var id, version, tables int64
	for text, dst := range map[string]*int64{
		"PRAGMA application_id":              &id,
		"PRAGMA user_version":                &version,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := ses.one(ctx, text, nil, []any{dst}); err != nil {
			return fmt.Errorf("the data file %s can't be read: %w", path, translate(ctx, err))
		}
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return nil // a new file
	case id != applicationID:
		return fmt.Errorf("the data file %s is %w", path, ErrCorrupt)
	case version > format:
		return fmt.Errorf("the data file %s was %w: its format is %d, known is %d", path, ErrNewerFormat, version, format)
	}
	return nil
}

package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"

	sqlite3 "modernc.org/sqlite"

	"github.com/portcullis-authz/portcullis/store"
)

// Options are the settings of a Store.
type Options struct {
	// Dir is the data folder. Open makes it, for the owner alone, where it is absent.
	Dir string
	// Schemas are all collections. Open adds and fills what is missing in the file, and drops columns
	// and indexes that a collection no longer declares. It leaves other collections alone.
	Schemas []*store.Schema
	// Readers is how many snapshots can be open at a time; 0 is 8.
	Readers int
}

const defaultReaders = 8

// Open opens the data folder, or makes it. Where the reason is one of ErrInUse, ErrNewerFormat and
// ErrCorrupt, the error wraps it, and the file is unchanged.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("store/sqlite: no data folder given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	s, err := open(ctx, dir, o)
	if err != nil {
		return nil, fmt.Errorf("store/sqlite: %w", err)
	}
	return s, nil
}

// open locks the folder, checks the file, and makes its tables what the schemas say.
func open(ctx context.Context, dir string, o Options) (opened *Store, err error) {
	tables, err := newTables(o.Schemas)
	if err != nil {
		return nil, err
	}
	path, err := prepare(dir)
	if err != nil {
		return nil, err
	}
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{tables: tables, path: path, lock: held, generation: rand.Text()}
	defer func() {
		if err != nil {
			_ = s.shut()
		}
	}()
	if err := inspect(ctx, path); err != nil {
		return nil, err
	}
	if err := belongs(ctx, path); err != nil {
		return nil, err
	}
	if err := quickCheck(ctx, path); err != nil {
		return nil, err
	}
	if s.contents.base, err = markOf(ctx, path); err != nil {
		s.contents.base = mark{seq: unknown}
	}
	s.write = s.connect(false, 1)
	if err := s.write.use(ctx, func(ses *session) error { return s.start(ctx, ses, o.Schemas) }); err != nil {
		return nil, err
	}
	readers := o.Readers
	if readers <= 0 {
		readers = defaultReaders
	}
	s.read = s.connect(true, readers)
	if err := s.Ping(ctx); err != nil {
		return nil, err
	}
	if err := s.guardFiles(ctx); err != nil {
		return nil, err
	}
	s.watch()
	return s, nil
}

func newTables(schemas []*store.Schema) (map[string]*table, error) {
	tables := make(map[string]*table, len(schemas))
	for _, schema := range schemas {
		t, err := newTable(schema)
		if err != nil {
			return nil, err
		}
		if tables[schema.Name] != nil {
			return nil, fmt.Errorf("the collection %s is declared twice", schema.Name)
		}
		tables[schema.Name] = t
	}
	return tables, nil
}

// connect makes a pool of sessions. A session opened after the folder was replaced would read another store.
func (s *Store) connect(reader bool, size int) *pool {
	open := opener(dsn(s.path, reader))
	return newPool(func() (driver.Conn, error) {
		conn, err := open()
		if err != nil {
			return nil, err
		}
		if err := s.present(); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}, size)
}

func opener(name string) func() (driver.Conn, error) {
	d := &sqlite3.Driver{}
	return func() (driver.Conn, error) { return d.Open(name) }
}

// start brings the file to the declared schemas and begins a new generation.
func (s *Store) start(ctx context.Context, ses *session, schemas []*store.Schema) error {
	if _, err := ses.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return translate(ctx, err)
	}
	m := migration{ctx: ctx, ses: ses}
	err := m.run(schemas)
	var epoch, seq int64
	if err == nil {
		err = ses.one(ctx, "UPDATE authz_meta SET generation = ?, base_generation = ?, base_seq = ? WHERE id = 1 RETURNING epoch, seq",
			[]any{s.generation, s.contents.base.generation, s.contents.base.seq}, []any{&epoch, &seq})
	}
	if err == nil {
		_, err = ses.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		ses.rollback()
		return m.explain(err)
	}
	s.epoch.Store(epoch)
	s.contents.last = mark{s.generation, seq}
	return nil
}

// shut closes what is open, readers first: the log can be moved into the file only when no old snapshot of it is read.
// In a lost folder it keeps the files open: closing them would remove a log of the same name, and that log is another
// process's.
func (s *Store) shut() error {
	if s.condition.stop != nil {
		s.condition.stop()
		s.condition.ended.Wait()
	}
	if s.refuseLost() != nil {
		return unlock(s.lock)
	}
	var errs []error
	if s.read != nil {
		s.read.close(func(*session) {})
	}
	if s.condition.guard != nil {
		s.condition.guard.close()
	}
	if s.write != nil {
		s.write.close(func(ses *session) {
			var busy, log, moved int64
			if err := ses.one(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)", nil, []any{&busy, &log, &moved}); err != nil {
				errs = append(errs, fmt.Errorf("store/sqlite: the log stays beside the file: %v", err))
			}
		})
	}
	return errors.Join(append(errs, unlock(s.lock))...)
}

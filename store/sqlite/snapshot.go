package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/portcullis-authz/portcullis/store"
)

// Snapshot writes everything committed at one instant into a new file for Restore. It works beside a process with the
// data folder open, and asks it nothing. It checks the whole file before and the new one after. For a damaged one the
// error wraps ErrCorrupt and names the damage.
func Snapshot(ctx context.Context, dir, target string) (store.Freshness, error) {
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err != nil {
		return store.Freshness{}, fmt.Errorf("there is no store in the data folder: %w", err)
	}
	if err := emptied(path); err != nil {
		return store.Freshness{}, err
	}
	if err := inspect(ctx, path); err != nil {
		return store.Freshness{}, err
	}
	if err := belongs(ctx, path); err != nil {
		return store.Freshness{}, err
	}
	err := whole(ctx, path, func(ses *session) error {
		if err := made(ctx, ses); err != nil {
			return err
		}
		_, err := ses.exec(ctx, "VACUUM INTO ?", target)
		return err
	})
	if errors.Is(err, errNoRoom) {
		return store.Freshness{}, fmt.Errorf("there is no room for a copy of the store in %s", filepath.Dir(target))
	}
	if err != nil {
		return store.Freshness{}, err
	}
	var freshness store.Freshness
	err = whole(ctx, target, func(ses *session) error {
		return ses.one(ctx, "SELECT generation, epoch FROM authz_meta WHERE id = 1", nil, []any{&freshness.Generation, &freshness.Epoch})
	})
	return freshness, errors.Join(err, durable(target))
}

// Restore moves a file that Snapshot has written into a data folder without a store. The next Open
// begins a new generation.
func Restore(ctx context.Context, source, dir string) error {
	if err := inspect(ctx, source); err != nil {
		return err
	}
	if err := whole(ctx, source, func(ses *session) error { return made(ctx, ses) }); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the data folder can't be made: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return err
	}
	defer func() { _ = unlock(held) }()
	if err := durable(source); err != nil {
		return err
	}
	// A link, unlike a rename, never takes the place of a file.
	if err := os.Link(source, filepath.Join(dir, fileName)); err != nil {
		return fmt.Errorf("the store can't be put into the data folder: %w", err)
	}
	return syncDir(dir)
}

// made returns errNoRow for a file in which no store was made: Open would make one in it.
func made(ctx context.Context, ses *session) error {
	var one int64
	return ses.one(ctx, "SELECT 1 FROM sqlite_schema WHERE name = 'authz_meta'", nil, []any{&one})
}

// whole checks every page and index of a file, and then runs fn on it.
func whole(ctx context.Context, path string, fn func(*session) error) error {
	q := url.Values{"mode": {"rw"}, "_busy_timeout": {"5000"}, "_defensive": {"1"}}
	ses, err := newSession(opener(location(path, q)))
	if err != nil {
		return fmt.Errorf("the data file %s can't be opened: %w", path, translate(ctx, err))
	}
	defer ses.close()
	if err := ses.check(ctx, path, wholeCheck); err != nil {
		return err
	}
	if err := fn(ses); err != nil {
		return fmt.Errorf("the data file %s: %w", path, translate(ctx, err))
	}
	return nil
}

// durable writes a file's content through to the disk, and closes it to others.
func durable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

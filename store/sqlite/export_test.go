package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/store"
)

// Queries are the texts of all possible queries of the schemas, with the name of their index.
func (s *Store) Queries() map[string]string {
	out := map[string]string{}
	for _, t := range s.tables {
		for sh, text := range t.find {
			out[text] = t.schema.Name + "." + sh.index
		}
		for sh, text := range t.scan {
			out[text] = t.schema.Name + "." + sh.index
		}
		for sh, text := range t.deleteAll {
			out[text] = t.schema.Name + "." + sh.index
		}
		for sh, text := range t.count {
			out[text] = t.schema.Name + "." + sh.index
		}
	}
	out[changesText] = "authz_rev_epoch"
	return out
}

// Together is the text of several reads.
func (s *Store) Together(reads ...store.Read) (string, error) {
	text, _, err := (&tx{tables: s.tables, ses: &session{}}).compound("", reads)
	return text, err
}

// Readers is how many sessions have been opened to read.
func (s *Store) Readers() int { return len(s.read.idle) }

// Pragma asks every connection, those that write first, and gives the answers without
// repetition.
func (s *Store) Pragma(ctx context.Context, name string) ([]string, error) {
	var out []string
	for _, p := range []*pool{s.write, s.read} {
		err := onAll(ctx, p, cap(p.slots), func(ses *session) error {
			return ses.each(ctx, "PRAGMA "+name, nil, func(row []driver.Value) error {
				out = append(out, fmt.Sprint(row[0]))
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Compact(out), nil
}

// MoveLog moves the log into the data file. The function is called before the move is over.
func (s *Store) MoveLog(ctx context.Context, happens func()) error {
	return s.writing(ctx, func(ses *session) error {
		s.contents.file.Store(nil)
		all := s.move(ses)
		happens()
		s.checkMoved(ses, all)
		return nil
	})
}

// Checkpoint moves the log into the data file as after a change. The function is called before it.
func (s *Store) Checkpoint(ctx context.Context, happens func()) error {
	return s.writing(ctx, func(ses *session) error {
		happens()
		s.checkpoint(ses)
		return nil
	})
}

// onAll holds each session until it has the next one, so that it meets all of them.
func onAll(ctx context.Context, p *pool, n int, fn func(*session) error) error {
	if n == 0 {
		return nil
	}
	return p.use(ctx, func(ses *session) error {
		if err := fn(ses); err != nil {
			return err
		}
		return onAll(ctx, p, n-1, fn)
	})
}

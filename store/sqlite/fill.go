package sqlite

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/store"
)

// fillPage is how many records are in memory at a time.
const fillPage = 500

// fill writes the columns of every record, taken from its body.
func (m migration) fill(s *store.Schema) error {
	read := "SELECT key, body FROM " + quote(s.Name) + " WHERE key > ? ORDER BY key LIMIT ?"
	write := "UPDATE " + quote(s.Name) + " SET " + strings.Join(names(s.Columns), " = ?, ") + " = ? WHERE key = ?"
	for last := ""; ; {
		var page []store.Row
		err := m.ses.each(m.ctx, read, []any{last, fillPage}, func(row []driver.Value) error {
			var r store.Row
			if err := scan(row, []any{&r.Key, &r.Body}); err != nil {
				return err
			}
			page = append(page, r)
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := m.fillRow(s, write, r); err != nil {
				return err
			}
			last = r.Key
		}
		if len(page) < fillPage {
			return nil
		}
	}
}

// fillRow fills the columns of a row anew from its body.
func (m migration) fillRow(s *store.Schema, write string, r store.Row) error {
	if s.Extract == nil {
		return refusal{fmt.Errorf("collection %s: a column was added; the schema must have an Extract to fill it", s.Name)}
	}
	values, err := s.Extract(r.Body)
	if err != nil {
		return refusal{fmt.Errorf("collection %s: the record %q can't be read: %w", s.Name, r.Key, err)}
	}
	r.Columns = values
	args, err := (&table{schema: s}).columns(r)
	if err != nil {
		return refusal{err}
	}
	_, err = m.ses.exec(m.ctx, write, append(args, r.Key)...)
	if isUnique(err) {
		return refusal{fmt.Errorf("collection %s: the record %q has a value of a unique index that another record has too", s.Name, r.Key)}
	}
	return err
}

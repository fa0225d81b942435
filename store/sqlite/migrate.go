package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/store"
)

// migration brings a file to the declared schemas, in one transaction: a crash in the middle undoes it.
type migration struct {
	ctx context.Context //nolint:containedctx // lives for one call of Open
	ses *session
}

// refusal is an error of a migration whose text names the reason.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func (m migration) explain(err error) error {
	if r, ok := errors.AsType[refusal](err); ok {
		return r.error
	}
	return translate(m.ctx, err)
}

// run makes the store's own tables, and those of the collections what the schemas say.
func (m migration) run(schemas []*store.Schema) error {
	var version int64
	if err := m.ses.one(m.ctx, "PRAGMA user_version", nil, []any{&version}); err != nil {
		return err
	}
	if version < format {
		texts := addedTables()
		if version == 0 {
			texts = append(ownTables(), fmt.Sprintf("PRAGMA application_id = %d", applicationID))
		}
		if err := m.all(append(texts, fmt.Sprintf("PRAGMA user_version = %d", format))...); err != nil {
			return err
		}
	}
	for _, s := range schemas {
		if err := m.collection(s); err != nil {
			return err
		}
	}
	return nil
}

// collection makes or changes one table. Indexes are dropped before their columns, and made after the
// values are there.
func (m migration) collection(s *store.Schema) error {
	indexes, err := m.definitions("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?", s.Name)
	if err != nil {
		return err
	}
	want := map[string]string{}
	for _, ix := range s.Indexes {
		want[indexName(s, ix)] = indexText(s, ix)
	}
	for name, text := range indexes {
		if want[name] != text {
			if err := m.all("DROP INDEX " + quote(name)); err != nil {
				return err
			}
			delete(indexes, name)
		}
	}
	if err := m.columns(s); err != nil {
		return err
	}
	for _, ix := range s.Indexes {
		if name := indexName(s, ix); indexes[name] == "" {
			err := m.all(want[name])
			if isUnique(err) {
				return refusal{fmt.Errorf("collection %s: the unique index %s can't be made: two records have the same value", s.Name, ix.Name)}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// columns makes the table, or brings its columns to the declared ones. It drops an undeclared column: it would hold old
// values at its next declaration.
func (m migration) columns(s *store.Schema) error {
	present, err := m.definitions("SELECT name, type FROM pragma_table_info(?)", s.Name)
	if err != nil {
		return err
	}
	if len(present) == 0 {
		return m.all(tableText(s))
	}
	want := map[string]string{}
	for _, c := range s.Columns {
		want["c_"+c.Name] = kindText(c.Kind)
	}
	for name, kind := range present {
		if strings.HasPrefix(name, "c_") && want[name] != kind {
			if err := m.all("ALTER TABLE " + quote(s.Name) + " DROP COLUMN " + name); err != nil {
				return err
			}
			delete(present, name)
		}
	}
	fill := false
	for _, c := range s.Columns {
		if name := "c_" + c.Name; present[name] == "" {
			fill = true
			if err := m.all("ALTER TABLE " + quote(s.Name) + " ADD COLUMN " + name + " " + want[name]); err != nil {
				return err
			}
		}
	}
	if !fill {
		return nil
	}
	return m.fill(s)
}

func (m migration) all(texts ...string) error {
	for _, text := range texts {
		if _, err := m.ses.conn.ExecContext(m.ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}

// definitions returns pairs of a name and a text.
func (m migration) definitions(text, table string) (map[string]string, error) {
	out := map[string]string{}
	err := m.ses.each(m.ctx, text, []any{table}, func(row []driver.Value) error {
		var name, def string
		if err := scan(row, []any{&name, &def}); err != nil {
			return err
		}
		out[name] = def
		return nil
	})
	return out, err
}

func tableText(s *store.Schema) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quote(s.Name) + " (key TEXT NOT NULL PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL")
	for _, c := range s.Columns {
		b.WriteString(", c_" + c.Name + " " + kindText(c.Kind))
	}
	return b.String() + ") STRICT"
}

// indexText returns the statement that makes an index. SQLite stores it unchanged, so a changed
// declaration is another text.
func indexText(s *store.Schema, ix store.Index) string {
	columns := columnsOf(ix)
	create := "CREATE INDEX "
	if ix.Unique {
		create = "CREATE UNIQUE INDEX "
	} else {
		columns = append(columns, "key")
	}
	return create + quote(indexName(s, ix)) + " ON " + quote(s.Name) + " (" + strings.Join(columns, ", ") + ")"
}

func kindText(k store.Kind) string {
	if k == store.KindInt {
		return "INTEGER"
	}
	return "TEXT"
}

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

// errNoRow says that a statement gave none.
var errNoRow = errors.New("no row")

// session is one connection with its prepared statements. One goroutine at a time has it.
type session struct {
	conn  connection
	stmts map[string]*statement
	// text is room to put one together.
	text []byte
	// broken: its transaction could not be ended; it is closed instead of reused.
	broken bool
}

// connection is what the driver's connections can do.
type connection interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
}

// statement is a prepared one, with the room for its arguments and for a row.
type statement struct {
	prepared
	text string
	args []driver.NamedValue
	row  []driver.Value
}

// prepared is what the driver's statements can do.
type prepared interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func newSession(open func() (driver.Conn, error)) (*session, error) {
	conn, err := open()
	if err != nil {
		return nil, err
	}
	return &session{conn: conn.(connection), stmts: map[string]*statement{}}, nil
}

// stmt prepares a text once, and gives it its arguments. Texts come from the schemas alone,
// so there are few.
func (s *session) stmt(ctx context.Context, text string, args []any) (*statement, error) {
	st, ok := s.stmts[text]
	if !ok {
		p, err := s.conn.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		st = &statement{prepared: p.(prepared), text: text}
		s.stmts[text] = st
	}
	st.args = st.args[:0]
	for i, a := range args {
		if n, ok := a.(int); ok { // the driver knows one kind of integer
			a = int64(n)
		}
		st.args = append(st.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return st, nil
}

// known is the text as a string, made once for each that is put together anew.
func (s *session) known(text []byte) string {
	if st, ok := s.stmts[string(text)]; ok {
		return st.text
	}
	return string(text)
}

// exec runs a statement and says how many records it changed.
func (s *session) exec(ctx context.Context, text string, args ...any) (int64, error) {
	st, err := s.stmt(ctx, text, args)
	if err != nil {
		return 0, err
	}
	defer clear(st.args)
	res, err := st.ExecContext(ctx, st.args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// one reads one row; errNoRow when there is none.
func (s *session) one(ctx context.Context, text string, args, into []any) error {
	return first(into, func(fn func([]driver.Value) error) error { return s.each(ctx, text, args, fn) })
}

// long is like one, for what may take SQLite a while: it is interrupted when the context ends.
func (s *session) long(ctx context.Context, text string, args, into []any) error {
	return first(into, func(fn func([]driver.Value) error) error { return s.query(ctx, ctx, text, args, fn) })
}

func first(into []any, each func(func([]driver.Value) error) error) error {
	found := false
	err := each(func(row []driver.Value) error {
		if found {
			return nil
		}
		found = true
		return scan(row, into)
	})
	if err == nil && !found {
		return errNoRow
	}
	return err
}

// each calls fn for every row until it gives an error. The row is fn's for the call only, its values for
// good.
//
// To interrupt a statement the driver needs a goroutine for it, which costs more than a record: the context
// is looked at from row to row instead. Each row is one step through an index.
func (s *session) each(ctx context.Context, text string, args []any, fn func(row []driver.Value) error) error {
	return s.query(ctx, context.Background(), text, args, fn)
}

// query runs a statement under a context of its own.
func (s *session) query(ctx, under context.Context, text string, args []any, fn func(row []driver.Value) error) (err error) {
	st, err := s.stmt(under, text, args)
	if err != nil {
		return err
	}
	defer clear(st.args)
	rows, err := st.QueryContext(under, st.args)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	if st.row == nil {
		st.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(st.row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(st.row); err != nil {
			return err
		}
	}
}

// hold begins to read, and goes on until it is released: what is read meanwhile is of one snapshot.
func (s *session) hold(text string) (driver.Rows, error) {
	st, err := s.stmt(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(context.Background(), nil)
}

// release gives up what hold began.
func (s *session) release(held driver.Rows) {
	if err := held.Close(); err != nil {
		s.broken = true
	}
}

// rollback ends a transaction, whatever has become of the caller's context. SQLite
// ends one by itself when a write is interrupted or the disk is full; ROLLBACK is an
// error then, and since nobody can tell that from a real one the session is given up.
func (s *session) rollback() {
	if _, err := s.exec(context.Background(), "ROLLBACK"); err != nil {
		s.broken = true
	}
}

// close undoes what the connection is in the middle of.
func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	_ = s.conn.Close()
}

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

// errNoRow is the error of a statement without a row.
var errNoRow = errors.New("no row")

// session is one connection with its prepared statements. One goroutine at a time uses it.
type session struct {
	conn  connection
	stmts map[string]*statement
	// text is a buffer for the text of a statement.
	text []byte
	// base is the mark of the data file the log was begun on; each writing transaction of the session notes it.
	base mark
	// broken is set if a transaction could not be ended. The session is then closed.
	broken bool
}

// connection is what the driver's connections implement.
type connection interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
}

// statement is a prepared statement with buffers for its arguments and a row.
type statement struct {
	prepared
	text string
	args []driver.NamedValue
	row  []driver.Value
}

// prepared is what the driver's statements implement.
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

// stmt returns the statement of a text, prepared once, with the arguments. Texts come from the schemas
// alone, so there are few.
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
		if n, ok := a.(int); ok { // the driver takes int64 only
			a = int64(n)
		}
		st.args = append(st.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return st, nil
}

// kept returns the text as a string, without an allocation where the session has a statement of it.
func (s *session) kept(text []byte) string {
	if st, ok := s.stmts[string(text)]; ok {
		return st.text
	}
	return string(text)
}

// exec runs a statement and returns how many records it changed.
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

// one reads the first row into variables; errNoRow without a row.
func (s *session) one(ctx context.Context, text string, args, targets []any) error {
	return first(targets, func(fn func([]driver.Value) error) error { return s.each(ctx, text, args, fn) })
}

// long is one for a statement that may take long: the end of the context interrupts it.
func (s *session) long(ctx context.Context, text string, args, targets []any) error {
	return first(targets, func(fn func([]driver.Value) error) error { return s.query(ctx, ctx, text, args, fn) })
}

// first scans the first row. The error is errNoRow without a row.
func first(targets []any, each func(func([]driver.Value) error) error) error {
	ok := false
	err := each(func(row []driver.Value) error {
		if ok {
			return nil
		}
		ok = true
		return scan(row, targets)
	})
	if err == nil && !ok {
		return errNoRow
	}
	return err
}

// each calls fn for every row until fn returns an error. fn may keep the values of the row, but not the
// row.
//
// It checks the context between two rows; each row is one step through an index. The driver's interrupt of a statement
// starts a goroutine, and that costs more than a record.
func (s *session) each(ctx context.Context, text string, args []any, fn func(row []driver.Value) error) error {
	return s.query(ctx, context.Background(), text, args, fn)
}

// query runs a statement that the end of lifetime interrupts, and calls fn for every row.
func (s *session) query(ctx, lifetime context.Context, text string, args []any, fn func(row []driver.Value) error) (err error) {
	st, err := s.stmt(lifetime, text, args)
	if err != nil {
		return err
	}
	defer clear(st.args)
	rows, err := st.QueryContext(lifetime, st.args)
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

// hold begins a read that ends with release: all reads of the session until then are of one snapshot.
func (s *session) hold(text string) (driver.Rows, error) {
	st, err := s.stmt(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(context.Background(), nil)
}

// release ends the read that hold began.
func (s *session) release(held driver.Rows) {
	if err := held.Close(); err != nil {
		s.broken = true
	}
}

// rollback ends a transaction, also after the end of the caller's context. Where a write was
// interrupted or the disk is full, SQLite has ended it already, and ROLLBACK is an error. That error
// looks like any other, so the session is closed after each.
func (s *session) rollback() {
	if _, err := s.exec(context.Background(), "ROLLBACK"); err != nil {
		s.broken = true
	}
}

// close closes the connection, which undoes a transaction under way.
func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	_ = s.conn.Close()
}

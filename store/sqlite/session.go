package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// session is one connection with its prepared statements.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	// broken: its transaction could not be ended; it is closed instead of reused.
	broken bool
}

func newSession(ctx context.Context, db *sql.DB) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// stmt prepares a text once. Texts come from the schemas alone, so there are few.
func (s *session) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	if st, ok := s.stmts[text]; ok {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.stmts[text] = st
	return st, nil
}

// exec runs a statement and says how many records it changed.
func (s *session) exec(ctx context.Context, text string, args ...any) (int64, error) {
	st, err := s.stmt(ctx, text)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// one reads one row; sql.ErrNoRows when there is none.
func (s *session) one(ctx context.Context, text string, args, into []any) error {
	st, err := s.stmt(ctx, text)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(into...)
}

// each calls scan for every row.
func (s *session) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	st, err := s.stmt(ctx, text)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rollback ends a transaction, whatever has become of the caller's context. SQLite
// ends one by itself when a write is interrupted or the disk is full; ROLLBACK is an
// error then, and since nobody can tell that from a real one the session is given up.
func (s *session) rollback() {
	if _, err := s.exec(context.Background(), "ROLLBACK"); err != nil {
		s.broken = true
	}
}

// close closes the connection itself: (*sql.Conn).Close would hand it, with whatever
// it is in the middle of, to the next one who asks.
func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
}

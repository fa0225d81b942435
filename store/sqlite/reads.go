package sqlite

import (
	"context"
	"database/sql/driver"
	"strconv"

	"github.com/portcullis-authz/portcullis/store"
)

// maxTogether bounds the reads of one statement: each number of reads is a statement of its own.
const maxTogether = 16

// Together implements store.Tx by one statement for several reads, whose rows name their read. For a few
// records most of the cost is the statement's.
func (t *tx) Together(ctx context.Context, account string, reads ...store.Read) (revision int64, rows [][]store.Row, err error) {
	rows = make([][]store.Row, len(reads))
	for start := 0; start == 0 || start < len(reads); start += maxTogether {
		until := min(start+maxTogether, len(reads))
		if revision, err = t.readTogether(ctx, account, reads[start:until], rows[start:until]); err != nil {
			return 0, nil, err
		}
	}
	return revision, rows, nil
}

// readTogether makes the reads and that of the account's revision in one statement.
func (t *tx) readTogether(ctx context.Context, account string, reads []store.Read, rows [][]store.Row) (revision int64, err error) {
	text, args, err := t.compound(account, reads)
	if err != nil {
		return 0, err
	}
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	var total int64
	var r store.Row
	targets := []any{&total, &r.Key, &r.Revision, &r.Body}
	err = t.ses.each(ctx, text, args, func(row []driver.Value) error {
		if err := scan(row, targets); err != nil {
			return err
		}
		if total < 0 {
			revision = r.Revision
		} else {
			rows[total] = append(rows[total], r)
		}
		return nil
	})
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	return revision, nil
}

// compound returns the statement, which it makes in the session's buffer, with its arguments.
func (t *tx) compound(account string, reads []store.Read) (string, []any, error) {
	text, args := append(t.ses.text[:0], togetherText...), append(make([]any, 0, 5*(1+len(reads))), account)
	for i, r := range reads {
		var one string
		var err error
		if one, args, err = t.read(args, r); err != nil {
			return "", nil, err
		}
		text = append(text, " UNION ALL SELECT "...)
		text = append(strconv.AppendInt(text, int64(i), 10), ", "+record+" FROM ("...)
		text = append(append(text, one...), ')')
	}
	t.ses.text = text
	return t.ses.kept(text), args, nil
}

// read returns the text of one read, and args with its arguments appended.
func (t *tx) read(args []any, r store.Read) (string, []any, error) {
	tab, err := t.table(r.Schema)
	if err != nil {
		return "", nil, err
	}
	if r.Query.Index == "" {
		return tab.get, append(args, r.Key), nil
	}
	return tab.query(tab.find, args, r.Query)
}

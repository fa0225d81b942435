package sqlite

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/store"
)

// Statements on the engine's own tables. seq numbers the writing transactions: settle finds by it the one with a failed
// COMMIT.
const (
	bumpText     = "INSERT INTO authz_rev (account, rev, epoch) VALUES (?, 1, 0) ON CONFLICT (account) DO UPDATE SET rev = rev + 1 RETURNING rev"
	loadText     = "INSERT INTO authz_rev (account, rev, epoch) VALUES (?, ?, 0) ON CONFLICT (account) DO UPDATE SET rev = excluded.rev"
	revisionText = "SELECT rev FROM authz_rev WHERE account = ?"
	togetherText = "SELECT -1, account, rev, x'' FROM authz_rev WHERE account = ?"
	sealText     = "UPDATE authz_meta SET seq = seq + 1, epoch = epoch + ?, base_generation = ?, base_seq = ? WHERE id = 1 RETURNING seq, epoch"
	stampText    = "UPDATE authz_rev SET epoch = ? WHERE account = ?"
	changesText  = "SELECT account, rev FROM authz_rev INDEXED BY authz_rev_epoch WHERE epoch > ? ORDER BY epoch LIMIT ?"
)

// Bump implements store.Tx.
func (t *tx) Bump(ctx context.Context, account string) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	if !t.writable {
		return 0, store.ErrReadOnly
	}
	if rev, ok := t.bumped[account]; ok {
		return rev, nil
	}
	var rev int64
	if err := t.ses.one(ctx, bumpText, []any{account}, []any{&rev}); err != nil {
		return 0, t.fail(ctx, err)
	}
	t.moved(account, rev)
	return rev, nil
}

// LoadRevision implements store.Tx.
func (t *tx) LoadRevision(ctx context.Context, account string, revision int64) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	if !t.writable {
		return store.ErrReadOnly
	}
	if _, err := t.ses.exec(ctx, loadText, account, revision); err != nil {
		return t.fail(ctx, err)
	}
	t.moved(account, revision)
	return nil
}

// moved notes an account's revision, whose epoch is written before the commit.
func (t *tx) moved(account string, revision int64) {
	if t.bumped == nil {
		t.bumped = map[string]int64{}
	}
	t.bumped[account] = revision
	t.wrote = true
}

// Revision implements store.Tx.
func (t *tx) Revision(ctx context.Context, account string) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	var rev int64
	err := t.ses.one(ctx, revisionText, []any{account}, []any{&rev})
	if err != nil && !errors.Is(err, errNoRow) {
		return 0, t.fail(ctx, err)
	}
	return rev, nil
}

// seal makes the last step before the commit. It numbers the transaction, moves the epoch where an account
// was bumped, and writes the epoch to the bumped accounts.
func (t *tx) seal() (seq, epoch int64, err error) {
	if err := t.ready(t.ctx); err != nil {
		return 0, 0, err
	}
	step := 0
	if len(t.bumped) > 0 {
		step = 1
	}
	if err := t.ses.one(t.ctx, sealText, []any{step, t.ses.base.generation, t.ses.base.seq}, []any{&seq, &epoch}); err != nil {
		return 0, 0, t.fail(t.ctx, err)
	}
	for account := range t.bumped {
		if _, err := t.ses.exec(t.ctx, stampText, epoch, account); err != nil {
			return 0, 0, t.fail(t.ctx, err)
		}
	}
	return seq, epoch, t.ready(t.ctx)
}

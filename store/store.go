package store

import (
	"context"
	"slices"
	"time"
)

// Store is one engine: store/sqlite, store/mongodb.
//
// Every method keeps to the context's deadline and returns ErrUnavailable when the engine
// cannot answer in time. Engines translate their driver's errors; no caller sees one.
type Store interface {
	// View runs fn on one snapshot: everything committed when it began, and nothing later. Writes return ErrReadOnly.
	// fn's values count only after View has returned nil: until then an engine may find that no majority has them. fn
	// may run more than once, so it only sets variables, anew in each run.
	View(ctx context.Context, fn func(Tx) error) error

	// Transact runs fn as one atomic step. When fn returns nil, all of its writes are durable (majority and journal;
	// fsync) before Transact returns nil. When fn returns an error, nothing is written, and Transact returns that error
	// unchanged. fn reads its own writes and a snapshot of everything else. If two transactions each read a record
	// written by the other, and both have called Bump for the same account, one fails. fn may run more than once (a
	// conflict is retried for up to 5 s), so outside the transaction it only sets variables, anew in each run.
	//
	// ErrUnavailable means that nothing was written; after ErrOutcomeUnknown something may have been.
	Transact(ctx context.Context, fn func(Tx) error) error

	// Freshness is one linearizable read: it sees every transaction with a Bump whose
	// Transact returned before Freshness was called.
	Freshness(ctx context.Context) (Freshness, error)

	// Lease declares that this process uses a Freshness for up to d after its read began. After
	// Lease has returned, every Transact with a Bump, in any process, waits from its commit on until
	// no older Freshness is used: d, 1 % for clocks that run apart, and 50 ms. The longest lease
	// counts; only NewGeneration makes it shorter. The embedded engine returns ErrNoLease: there
	// Freshness costs nothing.
	Lease(ctx context.Context, d time.Duration) error

	// Changes returns the accounts whose revision moved in an epoch after the given one, with their
	// current revisions. It sees at least all that an earlier Freshness saw. It returns limit accounts
	// at most; complete is false if there are more.
	Changes(ctx context.Context, after int64, limit int) (changed []AccountRevision, complete bool, err error)

	// Ping makes a quick round trip to the engine. Check also makes a query and a write.
	Ping(ctx context.Context) error
	Check(ctx context.Context) error

	// Close releases everything, after the transactions under way have finished or were undone.
	Close() error
}

// Freshness is how far the store has come.
type Freshness struct {
	// Generation changes when earlier revisions lose their meaning: on each start of the embedded
	// engine, and after a restore of another engine.
	Generation string
	// Epoch grows with each transaction that called Bump. Transactions that an engine commits as one
	// share an epoch.
	Epoch int64
}

// AccountRevision is the revision of an account's facts.
type AccountRevision struct {
	AccountID string
	Revision  int64
}

// Tx is one transaction or snapshot, to which Collection adds types. It is not safe for concurrent
// use, and ends with the function that it was given to.
type Tx interface {
	// Get returns the record, or ErrNotFound.
	Get(ctx context.Context, schema *Schema, key string) (Row, error)
	// Insert adds a record at revision 1. It returns a *DuplicateError with the unique index, or ""
	// for the key; then nothing was written, and the transaction can go on.
	Insert(ctx context.Context, schema *Schema, row Row) error
	// Replace changes the record at row.Revision and moves it to the next revision. It returns
	// ErrRevision for a record at another revision, ErrNotFound for an absent one, and
	// *DuplicateError as Insert does.
	Replace(ctx context.Context, schema *Schema, row Row) error
	// Delete removes the record at that revision. Its errors are those of Replace.
	Delete(ctx context.Context, schema *Schema, key string, revision int64) error
	// DeleteAll removes the query's records of any revision, without regard to its After and Limit.
	DeleteAll(ctx context.Context, schema *Schema, query Query) error
	// Find returns the records that the query matches, in the index's order.
	Find(ctx context.Context, schema *Schema, query Query) ([]Row, error)
	// Scan returns the places of the records that the query matches, in the index's order. It reads the
	// index alone, and no body.
	Scan(ctx context.Context, schema *Schema, query Query) ([]Cursor, error)
	// Count returns how many records the query matches, without regard to its After and Limit.
	Count(ctx context.Context, schema *Schema, query Query) (int, error)

	// List returns the first records behind the key, in the order of the keys' bytes, limit at most. Unlike Find it
	// also returns records without an index.
	List(ctx context.Context, schema *Schema, after string, limit int) ([]Row, error)
	// Load writes a record as it is, with its revision, in place of the one with its key. An error beyond those of
	// every write, such as a duplicate in a unique index, ends the transaction. Load and LoadRevision copy a whole
	// store; a change uses Insert and Replace, since these check.
	Load(ctx context.Context, schema *Schema, row Row) error
	// LoadRevision sets the account's revision. The epoch moves as with Bump.
	LoadRevision(ctx context.Context, account string, revision int64) error

	// Bump moves the account's revision. Every change that can alter a decision or an authentication
	// calls it before it reads what the change depends on. The engine moves the epoch once, in the
	// same commit. A second Bump of an account in a transaction has no effect, and transactions that
	// are committed as one share a revision. A revision may move though nothing changed. The account
	// "" stands for users without one.
	Bump(ctx context.Context, account string) (revision int64, err error)
	// Revision returns the account's revision in this snapshot, 0 before the first Bump.
	Revision(ctx context.Context, account string) (int64, error)

	// Together makes several reads, at the cost of one where the engine can. It returns the account's
	// revision and, for each read, the rows of Find or the one of Get, none for an absent record.
	Together(ctx context.Context, account string, reads ...Read) (revision int64, rows [][]Row, err error)
}

// BumpAll bumps the revision of each account. It does so in the order of their ids, like every change of several accounts, so
// changes can't wait for each other in a circle.
func BumpAll(ctx context.Context, tx Tx, accounts ...string) error {
	slices.Sort(accounts)
	for _, account := range slices.Compact(accounts) {
		if _, err := tx.Bump(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

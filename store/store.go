package store

import (
	"context"
	"time"
)

// Store is one engine: store/sqlite, store/mongodb.
//
// Every method honours the context's deadline and gives ErrUnavailable when the
// engine can't answer in time. Engines translate their driver's errors; nobody else
// sees one.
type Store interface {
	// View runs fn on one snapshot: everything that was committed when it began, and
	// nothing that was committed after. Writes give ErrReadOnly. What fn read counts once View
	// has returned nil, and not before: an engine may find only then that a majority has it. fn
	// may run more than once, so it has no effect but on variables that it sets anew, and of an
	// error of View nothing in them counts.
	View(ctx context.Context, fn func(Tx) error) error

	// Transact runs fn as one atomic step: when it returns nil, all of its writes are
	// durable (majority and journal; fsync) before Transact returns nil; when it
	// returns an error, none is, and that error is returned as it is. fn reads its own
	// writes and a snapshot of everything else, and no two transactions that wrote a
	// record that the other read both commit, where one of them has called Bump for the same
	// account. fn may run more than once (a conflict is retried for up to 5 s), so it
	// has no effect outside the transaction but on variables that it sets anew.
	//
	// ErrUnavailable says that nothing was written; ErrOutcomeUnknown that it may have been.
	Transact(ctx context.Context, fn func(Tx) error) error

	// Freshness is one linearizable read: it sees every transaction with a Bump whose
	// Transact returned before Freshness was called.
	Freshness(ctx context.Context) (Freshness, error)

	// Lease says that this process answers from a Freshness for up to d after its read began,
	// without asking anew. Once it has returned, no Transact with a Bump, in any process,
	// returns before every such answer is over: it waits d, 1 % for clocks that run apart, and
	// 50 ms, from its commit on. The longest lease counts, and none gets shorter but by
	// NewGeneration. The embedded engine gives ErrNoLease: there Freshness costs nothing.
	Lease(ctx context.Context, d time.Duration) error

	// Changes lists the accounts whose revision moved in an epoch after the given one,
	// with their current revisions. It sees at least all that a Freshness call before
	// it saw. At most limit accounts; complete is false when there were more.
	Changes(ctx context.Context, after int64, limit int) (changed []AccountRevision, complete bool, err error)

	// Ping is a quick round trip to the engine; Check also runs a query and proves that
	// a write can be made.
	Ping(ctx context.Context) error
	Check(ctx context.Context) error

	// Close releases everything; transactions under way are finished or undone first.
	Close() error
}

// Freshness is how far the store has come.
type Freshness struct {
	// Generation changes whenever revisions of before mean nothing: on each start of
	// the embedded engine, after a restore of another.
	Generation string
	// Epoch grows with each transaction that called Bump; those that an engine commits as
	// one share an epoch.
	Epoch int64
}

// AccountRevision is the revision of an account's facts.
type AccountRevision struct {
	AccountID string
	Revision  int64
}

// Tx is one transaction or snapshot. Collection wraps it with types. It is not safe
// for concurrent use, and ends with the function it was given to.
type Tx interface {
	// Get gives the record, or ErrNotFound.
	Get(ctx context.Context, schema *Schema, key string) (Row, error)
	// Insert adds a record at revision 1. *DuplicateError names the unique index, or ""
	// for the key; nothing was written then, and the transaction can go on.
	Insert(ctx context.Context, schema *Schema, row Row) error
	// Replace changes the record whose revision is row.Revision and gives it the next
	// one. ErrRevision when it has another one, ErrNotFound when it is not there,
	// *DuplicateError as for Insert.
	Replace(ctx context.Context, schema *Schema, row Row) error
	// Delete removes the record at that revision; errors as for Replace.
	Delete(ctx context.Context, schema *Schema, key string, revision int64) error
	// Find lists the records that the query matches, in the index's order.
	Find(ctx context.Context, schema *Schema, query Query) ([]Row, error)
	// Count is how many records the query matches; After and Limit don't count.
	Count(ctx context.Context, schema *Schema, query Query) (int, error)

	// Bump moves the account's revision: every change that can alter a decision or an
	// authentication calls it before it reads what the change depends on. The engine
	// moves the epoch once, in the same commit. Twice for one account in one transaction is
	// once, and transactions that are committed as one share a revision. It may also move
	// though nothing changed. The account "" stands for users without one.
	Bump(ctx context.Context, account string) (revision int64, err error)
	// Revision is the account's revision in this snapshot; 0 before the first Bump.
	Revision(ctx context.Context, account string) (int64, error)

	// Together makes several reads, at the cost of one where the engine can: the account's revision, and for each
	// read the rows that Find would give, or the one that Get would; none for a record that is not there.
	Together(ctx context.Context, account string, reads ...Read) (revision int64, found [][]Row, err error)
}

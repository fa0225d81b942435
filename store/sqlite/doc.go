// Package sqlite is the embedded engine: one SQLite file in WAL mode, owned by one
// process at a time.
//
// A collection is a STRICT table whose declared columns stand beside the record's
// body; every query names the declared index it goes through (INDEXED BY), so a query
// that would have to scan or sort is an error and no slow answer. Statement texts are
// built from the schemas when the store is opened and never from a request. There is
// one writing connection, since SQLite has one writer anyway: writers queue for it in
// order, with their deadline, instead of polling a lock; readers have a pool of
// their own and never wait for a writer.
//
// The epoch is moved in the transaction and then, before Transact returns, in the
// memory of this process, which is the only one that can have the file open: a
// freshness read costs no query. The generation is new at each start, because a file
// may have been put back from a copy while nobody looked.
//
// A session is one of the driver's connections with its prepared statements. What a statement costs
// beside SQLite itself is most of what a record costs: a statement is parsed once, and what goes through
// an index record by record has no goroutine to interrupt it. Reads that are asked for together are one statement,
// a snapshot is one that is held, and the session that was used last is used next.
//
// Rejected: database/sql (its sessions, locks and conversions take longer than SQLite needs for a record, and
// sql.Tx interrupts a COMMIT when the context ends, which makes its outcome a guess), one pool for reading and writing (a reader that begins to write
// meets SQLITE_BUSY_SNAPSHOT), synchronous=NORMAL (loses answered writes with the
// power), deleting or renaming a file that can't be read (it is the operator's only
// copy), a key-value file with indexes by hand (every unique index would be our own bug).
package sqlite

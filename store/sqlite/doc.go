// Package sqlite is the embedded engine: one SQLite file in WAL mode, owned by one process at a time.
//
// A collection is a STRICT table with the declared columns beside the record's body. Every query names its declared
// index (INDEXED BY): a query with a scan or a sort is an error instead of a slow answer. Statement texts are made from
// the schemas when the store is opened, never from a request. There is one writing connection, because SQLite has one
// writer: writers queue for it in order, with their deadline, and poll no lock. Readers have a pool of their own and
// never wait for a writer.
//
// The epoch moves in the transaction and then, before Transact returns, in the memory of this process. No other process
// has the file open, so a freshness read costs no query. The generation is new at each start, because somebody may have
// put an older copy of the file in its place.
//
// If anybody else writes to the files the store is lost: no change is answered unless a start would find it, and no
// read returns foreign writes. The data file changes only when the store moves the log there, so each transaction
// compares the file's size and time of change, a few microseconds. A move is checked by the file's contents afterwards.
// Only an overwrite between the comparison before a move and the move's first page is missed. Each transaction notes
// the data file its log was begun on, so a start finds a log beside a foreign file.
//
// A session is one of the driver's connections with its prepared statements. A statement costs more than the record it
// reads. So each is parsed once, a transaction's reads known together are one statement, and a snapshot is a held
// statement. The last used session is used next.
//
// # Rejected
//
//   - database/sql: its locks and conversions take longer than SQLite needs for a record, and sql.Tx interrupts a
//     COMMIT when the context ends, with an unknown result.
//   - zombiezen.com/go/sqlite 1.4.2, on the same build of SQLite: a record by its key takes 7.0 µs and 2 allocations
//     instead of 8.2 µs and 17, a list of ten 12.1 µs instead of 15.2, an update 2.3 µs instead of 2.6. It would not
//     make the code simpler: its interrupts take a goroutine for each context too, and end the held statement of a
//     snapshot. It uses the driver's internals without a promise of their stability, and its newest release was made
//     for the driver of 16 months before.
//   - One pool for reading and writing: a reader's first write meets SQLITE_BUSY_SNAPSHOT.
//   - synchronous=NORMAL: it loses answered writes when the power fails.
//   - To delete or rename a file that cannot be read: it is the operator's only copy.
//   - A key-value file with indexes by hand: every unique index would be our own bug.
package sqlite

// Package mongodb is the engine for several replicas: a MongoDB replica set, or a sharded cluster through mongos. It
// refuses a standalone server, since that has no transactions. It needs nothing beyond MongoDB 4.4.
//
// Writes are transactions with snapshot reads and a majority, journalled commit. A view is a transaction without
// writes, so a majority has what it read. Freshness is one linearizable read of one document. Every session continues
// after the newest operation seen by this process, so a newly elected primary answers nothing older.
//
// All changes with a bump write the document of the epoch. Those of one process run one after the other in one
// transaction while they wait for it (slot, group). Between processes the first writer wins, and the others retry.
//
// # Rejected
//
//   - The driver's own retry loop: it retries for two minutes.
//   - To find duplicates by the server's error: an error ends a transaction in MongoDB. A value is
//     looked up before it is written, and a conflict of two writers is a retry.
package mongodb

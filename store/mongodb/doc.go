// Package mongodb is the engine of many replicas: a MongoDB replica set, or a sharded
// cluster through mongos. A standalone server is refused, since it has no transactions.
//
// Writes are transactions with snapshot reads and a majority, journalled commit; a view
// is a transaction that writes nothing, so that what it saw is what a majority has.
// Freshness is one linearizable read of one document, and every session continues behind
// the newest operation that this process has seen: also a primary that has just been
// elected answers no older than that. Nothing beyond MongoDB 4.4 is asked of the server.
//
// Changes with a bump all write the document of the epoch. Those of one process that wait
// for it are run one after the other in one transaction (slot, group); between processes the
// first writer wins, and the others try again.
//
// Rejected: the driver's own retry loop (it retries for two minutes), and asking the
// server for duplicates by trying: an error ends a transaction in MongoDB, so a value is
// looked up before it is written, and a conflict of two writers is a retry.
package mongodb

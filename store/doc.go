// Package store is the storage contract: typed collections with declared keys and
// indexes, one atomic step over several of them, and the revisions on which the
// freshness of decisions rests. Its comments are the specification of an engine;
// store/storetest holds every engine to them.
//
// A record is a key, a revision and a JSON body. A collection takes the values of its
// declared columns from the body, so nothing decoded from a request becomes a filter by
// itself. Engines know no aggregate and no business rule; areas know no engine.
//
// # Rejected
//
//   - A repository interface for each aggregate: each engine would repeat every rule.
//   - A query language in the contract: each area would depend on one engine's.
package store

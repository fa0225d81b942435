// Package store is the storage contract: typed collections with declared keys and
// indexes, one atomic step over several of them, and the revisions on which the
// freshness of decisions rests. Its comments are the specification of an engine;
// store/storetest holds every engine to them.
//
// A record is a key, a revision and a JSON body; the values of its declared columns
// are taken from the body by the collection, never from a request, so nothing
// decoded from the outside becomes a filter by itself. Engines know no aggregate and
// no business rule, areas know no engine. Rejected: a repository interface an
// aggregate (each engine would repeat every rule), and exposing a query language
// (each area would depend on one engine's).
package store

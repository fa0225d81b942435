// Package rolecache caches the facts for decisions. It holds one value for each user in an account, and one for each
// thing users share: the account itself, its projects, its roles, the grants of its groups.
//
// A value is named by (generation, account, revision, what it is of), so a value under a name never changes and a cache
// can only miss.
//
// # Freshness
//
// Each request first reads how far the store has come (barrier), takes over the moved revisions, and asks for the
// values of the current revision only. So it sees every change answered before it arrived. The first barrier takes over
// the revisions of all accounts, if their list is short: a cache miss then costs one read. On a store in the process a
// barrier costs nothing. On a database the requests share it: a request that arrives while one is under way joins the
// next one. With a lease, a barrier begun within the lease will do; the store's writers wait for the lease to end
// before they answer.
//
// FactsOf gathers the facts of several users at one revision, and Homes the accounts of several, with few reads: one
// view reads the misses of 64 users, on a database by one find for each collection. Facts older than the rest are read
// again, a few times, and then the gathering fails.
//
// # Levels
//
// The first level is in the process (resources/memo). A second, shared one (Remote) holds the values of users and
// projects under the same names, each authenticated under its name, so it can only miss as well. Its names carry a
// format: a release reads no values of another release with different facts. Without a second level a miss is one
// snapshot read. Facts about agents are in the first level alone.
//
// A value enters either level after its snapshot read has returned, since its function may have read an undone history.
// Facts without anything to revoke are not cached: an unknown account (revision 0), a user outside the account, a
// project outside the account. A client cannot fill the cache with names of its own making. Facts of another account's
// user change without this account, and are read each time.
//
// Reads of the store pass a gate: cache misses wait there, cache hits never do.
//
// # Rejected
//
// Deletion of values on a change, and expiry by time: both serve a revoked role for a while.
package rolecache

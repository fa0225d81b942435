// Package rolecache caches the facts on which decisions rest.
//
// It holds one value for each user in an account, and one for each of what users share: the account
// itself, its projects, its roles, what its groups hold. A value is named by (generation, account,
// revision, what it is of), so a value under a name never changes and a cache can only miss.
//
// # Freshness
//
// Each request first reads how far the store has come (barrier), takes over the revisions that moved,
// and asks for the values of the current revision only: it sees every change that was answered before
// it arrived. The first barrier takes over the revisions of all accounts, if their list is short, so
// that a cache miss costs one read. On a store in the process a barrier costs nothing. On a database
// the requests share it: a request that arrives while one is under way joins the next one. With a
// lease, a barrier that began within the lease will do; the store's writers wait for the lease to end
// before they answer.
//
// FactsOf gathers the facts of several users at one revision, and Homes the accounts of several, with few
// reads: one view reads the misses of 64 users, on a database by one find for each collection. Facts
// that turn out older than the rest are read again, a few times, and then the gathering fails.
//
// # Levels
//
// The first level is in the process (resources/memo). A second one that replicas share (Remote) holds
// the values of users and projects under the same names, each authenticated under its name, so it can
// only miss as well. Its names carry a format: no release reads the values of another that loads facts
// otherwise. Without a second level a miss is one snapshot read.
//
// A value enters either level after its snapshot read has returned, because what its function read may
// be undone. What nobody can revoke is not cached: an account that does not exist (revision 0), a user who is not a
// member of the account, a project that the account does not have. A client cannot fill the cache with names of its own
// making, and what is known of a user of another account, which changes without this one, is read each time.
//
// Reads of the store pass a gate: cache misses wait there, cache hits never do.
//
// # Rejected
//
// Deletion of values on a change, and expiry by time: both serve a revoked role for a while.
package rolecache

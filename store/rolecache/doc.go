// Package rolecache keeps what decisions rest on near the decision.
//
// What it holds: one value for each user in an account, and one for each of what users share (the
// account itself, its projects, its roles, what its groups hold), as they were at one revision of the
// account. The key is (generation, account, revision, what), so a value under a key never changes and a cache can
// only miss. A user who is new reads their own records in a snapshot, and what is shared only where
// nobody has read it in one of the same revision. What bounds its staleness: each request first reads how far the store
// has come (Freshness), takes over the revisions that moved, and asks for the values
// of the current revision only. At first it takes over those of all accounts, as far as
// their list is short, so that a cold question asks for nothing but its value. A change
// that was answered before the request is therefore seen. On a store that is asked over
// the network that read is shared: whoever comes while one is under way joins the next,
// and with a lease one that began within it will do, which the store's writers wait out
// before they answer. A second level that replicas share (Redis) holds the same values
// under the same keys, each authenticated under its key: it can only miss as well. Its keys
// carry a format too, so that no release reads the values of one that loads facts otherwise.
// Without it a question that is new to the process is one snapshot read. Values enter either level
// after their view has returned, since what its function read may be undone. An account that
// does not exist has revision 0, at which nothing is kept: a caller can't fill the cache with names.
// Reads of the store pass a gate: thousands of new questions at once wait for it, and never
// those whose value is here.
// Rejected: deleting keys on a change and expiry by time, both of which serve a
// revoked role for a while.
package rolecache

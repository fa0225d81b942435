// Package apikeys is the users' own API keys: creating, listing and revoking
// them, and when each was last used.
//
// Policy has allowed a request before a handler here sees it; what may have changed since
// (the caller's membership, status, role or key) is asked again on the facts of the
// handler's own snapshot. A path names a user by the external id alone: the internal UUID
// is nobody here. A change bumps the account's revision, so a revocation that was answered
// is in force everywhere.
//
// When a key was last used is no fact of a decision: it is remembered in memory and
// written once a minute, beside the key and without moving the revision. Rejected: a
// write a request, which would make every read a write, and the time in the key's record,
// where a use and a revocation would compete.
//
// A user's keys that ended or were revoked stay listed; of more than a thousand keys the
// oldest such go when another one is made, since every decision about the user reads them
// all.
package apikeys

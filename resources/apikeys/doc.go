// Package apikeys is the area of users' API keys: it creates, lists and revokes them, and records
// when each was last used.
//
// Policy has allowed a request before a handler here sees it. The handler checks again, on the
// facts of its own snapshot, what may have changed since: the caller's membership, status, role
// and key. A path names a user by the external id only. A change bumps the account's revision, so
// a revocation that was answered is in force on every replica.
//
// No decision depends on when a key was last used. The time is noted in memory and written about
// once a minute, in a record beside the key and without a bump.
//
// Expired and revoked keys stay in the list. A user has at most 1,000 keys, since the store reads
// all of them for each of the user's facts: a new key replaces the oldest one that can't be used.
//
// # Rejected
//
// A write for each use: every read would be a write. The time of the last use in the key's record:
// a use and a revocation would conflict.
package apikeys

// Package changes writes a record of each change of accounts, projects, roles, assignments, groups,
// members, users and keys, in the transaction that makes it (CHANGES.md beside the commands).
//
// The store that the areas write to is wrapped: when an area's part of a transaction has succeeded, the
// records that it has written tell what was changed, and the request's context tells who asked. So no
// area can make a change without a record, and none has to think of it. A write that no answer shows,
// such as the mark of a project that is being deleted, is no change; nor is a new updated_at alone.
//
// The order of an account's records is that of its revisions, in which its changes were committed:
// a client that has read up to one misses nothing that comes after it.
//
// # Rejected
//
// A call in each handler: 30 places, of which one is forgotten. A log beside the store: it has a change
// that was undone, or lacks one that was answered.
package changes

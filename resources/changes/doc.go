// Package changes writes a record of each change of accounts, projects, roles, assignments, groups,
// members, users and keys, in the transaction that makes it (docs/integrate/changes.md).
//
// The store that the areas write to is wrapped: when an area's part of a transaction has succeeded, the
// records that it has written tell what was changed, and the request's context tells who asked. So no
// area can make a change without a record, and none has to think of it. A write that no answer shows,
// such as the mark of a project that is being deleted, is no change; nor is a new updated_at alone.
//
// The order of an account's records is that of its revisions, in which its changes were committed:
// a client that has read up to one misses nothing that comes after it.
//
// A change is one record, however much went along with it: what has no room in it is kept in parts beside
// it, compressed, and joined where it is read (records.InsertChange, JoinChange). So nothing is left out, no
// engine's largest document bounds a deletion, and pages of records stay small in memory.
//
// # Rejected
//
// Several records of one change, which a follower would take for several changes; a count in place of the
// list, which loses who had what. A call in each handler: 30 places, of which one is forgotten. A log
// beside the store: it has a change that was undone, or lacks one that was answered.
package changes

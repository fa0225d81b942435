// Package changes writes a record of each change of accounts, projects, roles, assignments, groups,
// members, users and keys, in the transaction that makes it (docs/integrate/changes.md).
//
// It wraps the store of the areas. When an area's part of a transaction has succeeded, the written records show the
// change, and the request's context names its caller. So no area can make a change without a record, and none has to
// think of it. A write without an effect on any answer, such as the mark of a project under deletion, does not count;
// nor does a new updated_at alone.
//
// An account's records are in the order of its revisions, the order of its commits: a client with all records up to one
// misses nothing after it.
//
// A change is one record, even with thousands of consequences: what exceeds its room is kept in compressed parts beside
// it, and joined by the reader (records.InsertChange, JoinChange). So nothing is left out, no engine's largest document
// bounds a deletion, and pages of records stay small in memory.
//
// # Rejected
//
// Several records of one change: a follower would take them for several changes. A count in place of the list: it loses
// who had what. A call in each handler: 30 places, and one is forgotten. A log beside the store: it has an undone
// change, or lacks an answered one.
package changes

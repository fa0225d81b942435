// Package memo is the program's in-process cache: a bounded table of immutable values.
//
// A value is found by its whole key and by nothing else. Table has no expiry: a key names
// everything that its value rests on, or the reader checks whether the value is still valid.
// A hit takes no lock and writes nothing that another hit has not written, so hits on several
// processors do not slow each other down. A miss, or an eviction, costs time and nothing else.
//
// A key has two buckets of eight entries in which it may be. A new entry goes to the emptier one.
// Where both are full, it evicts one entry that had no hit since an eviction last passed over it
// (a second chance). The hash has a random seed, so that a client cannot choose keys that share
// their buckets.
//
// # Rejected
//
//   - A least recently used list (hashicorp/golang-lru): each hit moves an element under a lock, and
//     an entry of the cache of facts takes 317 bytes there and 92 here.
//   - Two generations of a map: each hit takes a lock.
package memo

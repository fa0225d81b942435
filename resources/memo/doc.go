// Package memo is the program's in-process cache: a bounded table of immutable values.
//
// A value is found by its whole key and by nothing else. Table has no expiry: a key names all inputs of its value, or
// the reader checks whether the value is still valid. A hit takes no lock and writes nothing already written by another
// hit, so hits on several processors do not slow each other down. A miss, or an eviction, costs time and nothing else.
//
// A key may be in two buckets of eight entries. A new entry goes to the emptier one. If both are full, it evicts one
// entry without a hit since an eviction last passed over it (a second chance). The hash has a random seed: a client
// can't choose keys for one bucket.
//
// # Rejected
//
//   - A least recently used list (hashicorp/golang-lru): each hit moves an element under a lock, and
//     an entry of the cache of facts takes 317 bytes there and 92 here.
//   - Two generations of a map: each hit takes a lock.
package memo

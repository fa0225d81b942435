// Package transfer copies whole stores, from one engine to another, and compares them.
//
// A copy has the records, their revisions and the accounts' revisions of its source. Its generation and its epoch are
// its own: no cached value of one is valid for the other. Records are written in the order of their keys: an
// interrupted copy continues from its end. Until it is complete and compared, the target is marked, and no gateway
// serves it.
//
// The master key is not in a store, and not in a copy.
package transfer

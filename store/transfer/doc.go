// Package transfer copies whole stores, from one engine to another, and compares them.
//
// A copy has the records, their revisions and the accounts' revisions of its source; its generation and
// its epoch are its own, so nothing that was cached of either is valid for the other. Records are
// written in the order of their keys, so a copy that was interrupted goes on where it ended. Until it
// is complete and compared, the target is marked, and no gateway serves it.
//
// The master key is not in a store, and not in a copy.
package transfer

// Package records declares what this product keeps in a store: its collections with their keys and
// indexes, the facts that decisions rest on, and the invariants of the data that every area is bound
// by (the last admin, the caller's credential, a project that is being deleted).
//
// It works on any store.Store and knows no engine; no engine knows it.
package records

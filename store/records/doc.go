// Package records declares what this product stores: its collections with their keys and indexes, the
// facts on which decisions rest, and the invariants of the data that bind every area (the last admin,
// the caller's credential, a project that is being deleted).
//
// It works on any store.Store. It knows no engine, and no engine knows it.
package records

// Package records declares this product's data: its collections with their keys and indexes, and the facts for
// decisions. It keeps the invariants of every area: the last admin, the caller's credential, a project under deletion.
//
// It works on any store.Store. It knows no engine, and no engine knows it.
package records

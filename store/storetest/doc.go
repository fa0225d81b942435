// Package storetest is the conformance suite of the storage contract: every engine
// passes the same cases, each named by what it guarantees.
//
// It declares collections of its own, so that a failure is the engine's and not the
// domain's. It uses an engine through package store alone; tests beside each engine cover
// how it starts, is killed and fills its indexes.
//
// # Rejected
//
//   - A fake engine to compare with, which would be a third engine to keep right.
//   - Time limits in the cases: a slow machine is no wrong answer.
package storetest

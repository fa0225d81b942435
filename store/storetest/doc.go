// Package storetest is the conformance suite of the storage contract: every engine
// passes the same cases, each named by what it guarantees.
//
// It declares collections of its own: a failure is then the engine's and not the domain's. It uses
// an engine through package store alone; tests beside each engine cover how it starts, is killed
// and fills its indexes.
//
// # Rejected
//
//   - A fake engine to compare with: a third engine to keep right.
//   - Time limits in the cases: a slow machine does not give a wrong answer.
package storetest

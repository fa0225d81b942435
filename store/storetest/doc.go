// Package storetest is the conformance suite of the storage contract: every engine
// passes the same cases, each named by what it guarantees.
//
// It uses collections of its own, so that it fails for what an engine does and not for
// what the domain declares. It asks an engine through package store alone; how an
// engine starts, is killed or fills its indexes is tested beside it. Rejected: a fake
// engine to compare with (a third engine to keep right) and time limits in the cases
// (a slow machine is no wrong answer).
package storetest

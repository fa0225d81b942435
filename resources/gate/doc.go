// Package gate bounds how much of one kind of work is under way at once, and how much waits for it.
//
// Work beyond the bound waits in the order of its arrival; work beyond the bounded queue is turned
// away at once. A gate is entered before a session or a transaction of the store is taken, and never
// while one is held: the work inside may be waiting for it.
//
// Rejected: one bound for all work of a request, in which cache misses hold up cache hits; a queue
// without a bound; steering of the Go runtime (collections made early, yields to the network poller,
// goroutines whose stacks are kept).
package gate

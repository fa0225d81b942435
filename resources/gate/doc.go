// Package gate is a semaphore with a bounded queue: it bounds how much work of one kind runs at
// once and how much waits.
//
// Work waits in the order of its arrival. When the queue is full, a gate refuses work at once.
// Enter a gate before you take a session or a transaction of the store, since the work inside may
// wait for that session.
//
// # Rejected
//
// One bound for all work of a request: cache misses would delay cache hits. A queue without a
// bound. Steering of the Go runtime (early garbage collections, yields to the network poller,
// reused goroutine stacks).
package gate

// Package gate is a semaphore with a bounded queue: it bounds how much work of one kind runs at
// once and how much waits.
//
// Accounts take turns at a gate, and the work of one account is in the order of its arrival. When the
// queue is full, a gate refuses work at once, of the account that has most in it. Enter a gate before you
// take a session or a transaction of the store, since the work inside may wait for that session: nobody
// waits for a gate while they hold a session, a transaction or a lock.
//
// A gate without a queue (TryEnter) is passed before it is known who asks; Share then keeps its last places
// for others than the account that has half of them.
//
// # Rejected
//
// One queue in the order of arrival: 48 connections of one tenant were ahead of each question of another
// one. Turns of users: one tenant can have any number of them. Turns by the time that work takes: an
// account whose next work is not in the queue yet loses its turn anyway, so the work of a gate is of one
// length, and what is longer has a gate of its own.
//
// One bound for all work of a request: cache misses would delay cache hits. A queue without a
// bound. Steering of the Go runtime (early garbage collections, yields to the network poller,
// reused goroutine stacks).
package gate

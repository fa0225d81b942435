// Package gate is a semaphore with a bounded queue: it bounds how much work of one kind runs at
// once and how much waits.
//
// Accounts take turns at a gate, and the work of one account is in the order of its arrival. A full queue refuses work
// at once, of the account with the most in it. Enter a gate before you take a session or a transaction of the store,
// since the work inside may wait for that session: nobody waits for a gate while holding a session, a transaction or a
// lock.
//
// A gate without a queue (TryEnter) is passed before the caller is authenticated. Share then refuses its last places to
// an account with half of them.
//
// # Rejected
//
// One queue in the order of arrival: 48 connections of one tenant were ahead of each question of another one. Turns of
// users: one tenant can have any number of them. Turns by the time of the work: an account loses its turn anyway while
// its next work is not in the queue. So all work of a gate is of one length, and longer work has a gate of its own.
//
// One bound for all work of a request: cache misses would delay cache hits. A queue without a
// bound. Steering of the Go runtime (early garbage collections, yields to the network poller,
// reused goroutine stacks).
package gate

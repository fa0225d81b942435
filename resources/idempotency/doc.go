// Package idempotency answers a repeated creating request with the response to the first one (API
// contract, 6, `Idempotency-Key`).
//
// A creating handler has two steps: it reads the request, and it makes the change and the response in one transaction.
// The same transaction stores the response to a success too: a change and its response are stored together or not at
// all.
//
// # Rejected
//
// Storing the response after the commit: a crash loses it. A filter around whole handlers: it has no
// access to their transaction.
package idempotency

// Package idempotency answers a repeated creating request with the first answer
// (API contract, 6, `Idempotency-Key`).
//
// A creating handler is two steps: reading the request, and a commit that runs in
// one transaction and gives the answer. The answer of a success is stored in that
// same transaction, so that there is never a change without its answer, nor an
// answer without its change. Rejected: storing the answer after the commit, which
// loses it in a crash, and a filter around whole handlers, which can't reach into
// their transaction.
package idempotency

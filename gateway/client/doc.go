// Package client asks a Portcullis gateway for decisions. It is a module of its own, which needs the standard library
// only.
//
// Check asks E3, Evaluate and EvaluateAll ask in the terms of AuthZEN 1.0, and Subjects, Resources and
// Actions search. Guard asks before each request of an http.Handler; a Verifier checks the gateway's
// word (X-Portcullis-Assertion) in a service that is behind it. Package clienttest has a gateway for
// tests.
//
// The zero Decision denies, and a Decision beside an error is the zero one: code that looks at Allowed
// alone lets nobody in by mistake. Each call ends within Options.Timeout. A call is sent again after a
// broken connection and after 502, 503 and 504 only: a question changes nothing, so that a second one
// is safe. A 429 is the caller's to pace.
//
// # Rejected
//
//   - A cache of decisions would outlive a revoke that was answered; the gateway has the caches.
//   - Redirects are not followed: the token would go to another address.
//   - An answer by default for the time in which the gateway is away is an allow that nobody decided.
package client

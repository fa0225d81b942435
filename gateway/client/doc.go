// Package client asks a Portcullis gateway for decisions. It is a module of its own, and needs the standard library
// only.
//
// Check asks E3, Evaluate and EvaluateAll ask in the terms of AuthZEN 1.0, and Subjects, Resources and Actions search.
// Guard asks before each request of an http.Handler; a Verifier checks the gateway's assertion (X-Portcullis-Assertion)
// in a service behind it. Package clienttest has a gateway for tests.
//
// The zero Decision denies, and a Decision beside an error is the zero one: a caller who reads only Allowed denies.
// Each call ends within Options.Timeout. A call is sent again after a broken connection and after 502, 503 and 504
// only: a question changes nothing, and a second one is safe. A 429 is the caller's to pace.
//
// # Rejected
//
//   - A cache of decisions would outlive an answered revoke; the gateway has the caches.
//   - Redirects are not followed: the token would go to another address.
//   - A default answer while the gateway is away would be an allow without a decision.
package client

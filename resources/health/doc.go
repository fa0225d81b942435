// Package health answers the probes of the private listener: liveness (E20) and readiness (E21).
//
// Readiness runs all checks at the same time, each with a deadline of its own, so slow checks do not
// add up. They check what decisions need; a mail server is not part of it.
//
// # Rejected
//
// Probes on the public listener: they show clients the inside.
package health

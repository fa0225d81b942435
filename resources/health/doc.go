// Package health answers the probes of the private listener: liveness (E20) and
// readiness (E21).
//
// Readiness runs every check at once, each within its own time, so that a slow
// neighbour costs one time-out and not the sum. A mail server that is down is no
// reason to take a gateway away; what decisions need is. Rejected: serving the
// probes on the public listener, where they would tell strangers about the inside.
package health

// Package health answers the probes of the private listener: liveness (E20) and
// readiness (E21).
//
// Readiness runs every check at once, each within its own time, so that a slow
// neighbour costs one time-out and not the sum. Checks write to the store: those who ask
// at once share one look, and what was found healthy is told for a second. What was
// not is looked at again for whoever asks next. A mail server that is down is no
// reason to take a gateway away; what decisions need is. Rejected: serving the
// probes on the public listener, where they would tell strangers about the inside.
package health

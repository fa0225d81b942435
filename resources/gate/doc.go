// Package gate bounds how much of one kind of work is under way at once, and how much
// waits for it.
//
// What nobody can do at once waits in order, up to a bound; what is beyond it is turned away
// at once, while that costs nothing. Rejected: one bound for all work of a request, in which
// what has to be worked out holds up what is known; and a queue without an end.
package gate

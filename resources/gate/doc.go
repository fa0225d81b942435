// Package gate bounds how much of one kind of work is under way at once, and how much
// waits for it.
//
// What nobody can do at once waits in order, up to a bound; what is beyond it is turned away
// at once, while that costs nothing. Work that takes a processor gives way at each step to
// what came over the network meanwhile (GivingWay): else whoever is answered in microseconds
// stands behind all that is ready to run, on a single processor until the flood is over. It
// also waits for garbage to be collected, and has that done a little early: with few processors
// the collector else takes milliseconds at a time from those that work leaves no pause. And it
// is done on a few goroutines of the gate's (Do), whose stacks are as large as it needs them.
//
// A gate is entered before a session or a transaction of the store is taken, and never by
// one who holds one: those inside may be waiting for it.
//
// Rejected: one bound for all work of a request, in which what has to be worked out holds up
// what is known; a queue without an end; runtime.Gosched, which puts off who calls it and
// looks at no network; and a larger GOGC, with which collections are fewer, and longer.
package gate

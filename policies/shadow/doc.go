// Package shadow has a candidate tree judge the questions on which callers are told verdicts, and counts where the two
// differ. Nothing of the candidate is ever told to a caller.
//
// Offer takes a copy of a judged question into a bounded queue, or drops it; it never waits. One goroutine works the
// queue off with an engine of the candidate's own: its own cache of verdicts, its own bounds (Deadline, and the memory
// of any evaluation). It works in slices and rests between them (limits.Pace), within an evaluation too, so that the
// candidate has a fiftieth of one processor at most, whatever it does. After a failure it rests longer, up to a
// second: a candidate that only fails has told what it is.
//
// A candidate has to pass the gate, as a tree in force has. One that does not is refused, with the reasons in Status,
// until its folder changes.
//
// Rejected:
//   - a thread of low priority: it holds one of Go's processors while it starves, and the collector waits for it;
//   - judging every question: a queue that waits for a slow candidate makes its slowness that of the callers.
package shadow

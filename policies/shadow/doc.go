// Package shadow judges live questions by a candidate tree, and counts where its verdict differs from the one in force.
// No caller is sent anything of the candidate.
//
// Over a replay of the decision log it buys verdicts on questions that the log masks, drops or, with `--decision-log off`,
// never holds, in each replica and within a fiftieth of one processor.
//
// Offer copies a judged question into a bounded queue, or drops it; it never waits. One goroutine judges what is queued,
// with an engine of its own: its own cache of verdicts and its own bounds (Deadline, and the memory of an evaluation).
// It pauses between slices of work, within an evaluation too (limits.Pace). So the candidate takes at most a fiftieth of
// one processor. After failures in a row the pause grows up to a second.
//
// A candidate has to pass the gate, as a tree in force does. One that does not is refused, with the reasons in Status,
// until its folder changes.
//
// Rejected:
//   - a thread of low priority: it holds one of Go's processors while it starves, and the collector waits for it;
//   - judging every question: callers would wait for a slow candidate.
package shadow

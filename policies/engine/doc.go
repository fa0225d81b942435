// Package engine asks the Rego tree. It knows Rego and OPA, and neither HTTP nor a store.
//
// A Set is one compiled tree. A decision is one evaluation of an entry point on an input
// (policies/question) built by hand as OPA's own values. Anything but a well-formed answer is an error with the zero decision, which
// denies: undefined, ill-typed or conflicting values, a failing built-in, a panic, an evaluation that exceeds its
// time or its memory (policies/limits). A grant has the time of its request.
//
// An Engine has a set in force and caches its verdicts. The key of a verdict is what the compiled rules can read
// (policies/question). Cache misses wait at a semaphore, so that thousands of them leave a processor to the hits;
// questions inside a transaction don't wait (inside.go). A reload takes a tree when the Loader returns it: the loader
// is proof.Load, by which the tree has proved itself. On an error the last good tree stays in force.
//
// An app of the tree decides about types of its own (apps.go), on an input of the question as it was sent and of the facts
// (appinput.go). Its sets are evaluated once for a tree (appsets.go); its answers are bounded and cached as verdicts are. An
// app whose decision is undefined denies: a rule without a default is false where it does not hold.
//
// Rejected:
//   - rego.PreparedEvalQuery: it starts a goroutine, needs a timer, opens a transaction
//     and turns the result into Go values, for each evaluation; topdown on the compiled
//     query needs none of it, and its clock is that of the question;
//   - input through JSON: slower than the evaluation itself;
//   - the time compared in Rego with the end of each assignment that grants: two allocations for
//     each, and a verdict that reads the time can't be cached. Assignments say whether they run;
//   - pooled inputs, parts shared among questions, caches of rule values and of data in place of OPA's: they spare a
//     cache miss a third of its allocations, which does not show in its time;
//   - a strict list of actions (strict.go) as a condition in Rego: it costs every decision 40 allocations, and makes the
//     probes of a strict tree say nothing;
//   - notices of the file system: they are missed on network folders and behind swapped links, and the
//     poll that makes up for it is prompt enough.
package engine

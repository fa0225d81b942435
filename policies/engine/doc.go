// Package engine asks the Rego tree. It knows Rego and OPA, and neither HTTP nor a store.
//
// A Set is one compiled tree. A decision is one evaluation of an entry point. Its input (policies/question) is built
// by hand from OPA's own values. An evaluation without a well-formed answer is an error with the zero decision, and so
// a denial: undefined, ill-typed or conflicting values, a failing built-in, a panic, an evaluation over its time or
// memory (policies/limits). A grant has the time of its request.
//
// An Engine has a set in force and caches its verdicts. The key of a verdict is what the compiled rules can read
// (policies/question). Cache misses wait at a semaphore, so that thousands of them spare a processor for the hits;
// questions inside a transaction don't wait (inside.go). A reload takes a tree when the Loader returns it: proof.Load
// tests the tree. proof.LoadProven does not: it is for the program's own tree. On an error the last good tree stays in force.
//
// An app of the tree decides about its own types (apps.go). Its input is the question as it was sent, and the facts
// (appinput.go). The engine evaluates its sets once for a tree (appsets.go), and bounds and caches its answers like
// other verdicts. An app denies if its decision is undefined: a rule without a default is false if its body fails.
//
// The rules of a package tools.<server> deny calls of the server's tools by their arguments (tools.go), after the tools'
// schemas (policies/arguments). No answer is cached: few arguments are sent twice.
//
// Rejected:
//   - rego.PreparedEvalQuery: for each evaluation it starts a goroutine, needs a timer, opens a transaction and turns
//     the result into Go values. Topdown on the compiled query needs none of it, and its clock is the question's.
//   - Input through JSON: slower than the evaluation itself.
//   - Rego comparing the time with the end of each granting assignment: two allocations for each, and a verdict can't
//     be cached if it reads the time. Assignments say whether they run.
//   - Pooled inputs, parts shared among questions, caches of rule values and of data in place of OPA's: they spare a
//     cache miss a third of its allocations, and no measurable time.
//   - A strict list of actions (strict.go) as a condition in Rego: it costs every decision 40 allocations, and the
//     probes of a strict tree prove nothing then.
//   - Notices of the file system: network folders and swapped links lose them, and the poll they would need beside
//     them is prompt enough.
package engine

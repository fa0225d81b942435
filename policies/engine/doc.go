// Package engine asks the Rego tree. It knows Rego and OPA, and neither HTTP nor a store.
//
// A tree is compiled once, and a decision is one evaluation of a compiled entry
// point on an input built by hand as OPA's own values. Whatever is not a
// well-formed answer is an error with the zero decision, which denies: undefined,
// ill-typed or conflicting values, a failing built-in, a panic,
// half a second gone by (a grant has the time of its request), more than 64 MiB made.
//
// What an evaluation makes is bounded before it is made (policies/builtins).
//
// A tree is taken only after it has proved itself: it compiles under strict checks
// and its schemas, its own tests pass, its catalogue is complete, and it denies those who
// have no rights, or none any more (rightless.go). A reload that fails any of it leaves the
// last good tree in force.
//
// Verdicts are cached (verdicts.go), each under a key of what the compiled rules can read of the
// question (policies/reuse). Where the rules are no function of that, or read the time, no verdict is
// cached. An evaluation passes a gate, so that thousands of new questions leave a processor to those
// whose verdicts are cached; a question inside a transaction passes none (inside.go).
//
// Rejected:
//   - rego.PreparedEvalQuery: it starts a goroutine, needs a timer, opens a transaction
//     and turns the result into Go values, for each evaluation; topdown on the compiled
//     query needs none of it, and its clock is that of the question;
//   - input through JSON: slower than the evaluation itself;
//   - the time compared in Rego with the end of each assignment that grants: two allocations for
//     each. What runs is a part of the input, made once for the time between two ends (subject.go);
//   - a verdict with a time to live, or dropped by a message: a revoke would be in force
//     when the one has passed or the other has come;
//   - 64 bits of hash in place of the whole key: two questions could share a verdict.
//
// A test of the tree runs on goroutines of OPA's test runner, where a panic can't be
// recovered; everything else that a tree can provoke is.
package engine

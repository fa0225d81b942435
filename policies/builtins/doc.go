// Package builtins says which of OPA's built-in functions a policy may call, and bounds what an evaluation
// makes with them.
//
// Compiled rules call each built-in that makes something under a name of ours (Charge), which foresees from the
// operands how much that is at most (costs.go). An evaluation whose bound would be exceeded ends before the value
// is made. A step counts a little as well, so that a comprehension over a product ends. Garbage counts:
// nothing is measured, and equal questions end equally.
//
// Not bounded: a literal of variables, which OPA copies wherever it is used, in one step (policies/README.md).
//
// Rejected:
//   - a deny list: the next network built-in of OPA would be allowed. A built-in without a known cost is refused;
//   - a tracer that counts: with one OPA copies every step, and it sees a value when it is there;
//   - reading how much memory the process has: it says nothing of one evaluation;
//   - rewriting rules so that a built-in makes each literal of variables once: 240 lines between the rules and OPA, and rules
//     changed their meaning by it (comprehensions that OPA evaluates once, objects of two equal keys, bodies of not);
//   - refusing trees for the size of what they nest: how large a value is depends on who calls a function;
//   - a registry of our own for OPA: its own is one for the process, and comes first.
package builtins

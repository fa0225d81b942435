// Package limits says which of OPA's built-in functions a policy may call, and bounds what an evaluation
// makes with them, and what may be written at all.
//
// Compiled rules call each built-in that makes something under a name of ours (Charge), which foresees from the
// operands how much that is at most (costs.go). An evaluation whose bound would be exceeded ends before the value
// is made. A step counts a little as well, so that a comprehension over a product ends. Garbage counts:
// nothing is measured, and equal questions end equally.
//
// OPA compiles and evaluates some of what can be written in one step that nothing stops, and ends the process where it
// takes too much. That is refused before: modules too long or too deep as they are parsed (CheckForm), and, as stages of
// the compiler, rules that rest on each other too widely or too deeply (CheckReach), literals that unfold to too much and
// values that become a part of themselves (CheckWritten). Values are followed by their sizes through variables, rules and
// functions, these once for each size of their operands.
//
// Not bounded: the comparison of two values that hold the same large parts often, by comprehensions and built-ins.
//
// Rejected:
//   - a deny list: the next network built-in of OPA would be allowed. A built-in without a known cost is refused;
//   - a tracer that counts: with one OPA copies every step, and it sees a value when it is there;
//   - reading how much memory the process has: it says nothing of one evaluation;
//   - rewriting rules so that a built-in makes each literal of variables once: 240 lines between the rules and OPA, and rules
//     changed their meaning by it (comprehensions that OPA evaluates once, objects of two equal keys, bodies of not);
//   - following the forms of values, with each member's size: twice the code, for literals that nobody writes;
//   - unifying terms as OPA does, with a look for cycles: to count how deep variables stand finds more, with half the code;
//   - a registry of our own for OPA: its own is one for the process, and comes first.
package limits

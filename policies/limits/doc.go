// Package limits says which of OPA's built-in functions a policy may call, and bounds what an evaluation
// makes with them, and what may be written at all.
//
// Each mechanism stops an attack of its own (policies/proof: TestExhaustingTreesAreRefused; policies/engine:
// TestALargeValueOfASmallQuestionIsNotMade):
//
//   - Charge: built-ins that make much of little. Compiled rules call each under a name of ours, which foresees from the
//     operands how much it makes at most (costs.go), and ends the evaluation before the value is made. All operands count
//     with what they share, since a value of forty arrays can be written out as 2^40. A step counts a little as well, so
//     that a comprehension over a product ends. Garbage counts: nothing is measured, and equal questions end equally.
//   - CheckForm: modules that are too long or nested too deep as they are parsed. OPA compiles what is nested by recursion,
//     and a stack that overflows ends the process.
//   - CheckReach: rules with too many references, too deep a chain of them, since OPA evaluates by recursion, or too wide
//     a net, since the compiler visits each path.
//   - CheckWritten: literals that unfold to too much. It follows values by their sizes through variables, rules and
//     functions, these once for each size of their operands, and through `with`. Parts of one value count once, so that
//     objects can be made of the members of others.
//   - CheckWritten, too: unifications by which a value becomes a part of itself, in a body (unify) and with the keys of a
//     rule (checkKeys).
//
// The last three are stages of the compiler: what they refuse can't be stopped later.
//
// Not bounded: the comparison of two values that hold the same large parts often, by comprehensions and built-ins.
//
// Rejected:
//   - a deny list: the next network built-in of OPA would be allowed. A built-in without a known cost is refused;
//   - a tracer that counts: with one OPA copies every step, and it sees a value when it is there;
//   - charging a result when it is made: the text of a shared value has no end, and of a hundred widths it is 100 MB;
//   - reading how much memory the process has: it says nothing of one evaluation;
//   - rewriting rules so that a built-in makes each literal of variables once: 240 lines between the rules and OPA, and rules
//     changed their meaning by it (comprehensions that OPA evaluates once, objects of two equal keys, bodies of not);
//   - following the forms of values, with each member's size: twice the code, for literals that nobody writes;
//   - unifying terms as OPA does, or counting how deep their variables stand: 60 and 110 lines more, for collections with
//     variables on both sides, which nobody writes;
//   - a registry of our own for OPA: its own is one for the process, and comes first.
package limits

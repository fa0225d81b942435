// Package limits has the list of OPA's built-in functions that a policy may call. It bounds the time and memory of an
// evaluation, and the size and form of rules.
//
// Each mechanism stops an attack of its own (policies/proof: TestExhaustingTreesAreRefused; policies/engine:
// TestALargeValueOfASmallQuestionIsNotMade):
//
//   - Charge: built-ins with large results of small operands. Compiled rules call a wrapper of each built-in. The
//     wrapper estimates the largest result from the operands (costs.go), and ends the evaluation before it would exceed
//     the budget. glob.match has a small result and takes many steps (globs.go). A shared part of an operand counts each
//     time: a value of forty arrays can have 2^40 members in its text. Each step of OPA costs a little, too, so that a
//     comprehension over a product ends. Estimates make equal questions end equally.
//   - CheckForm: modules that are too long or nested too deep. OPA compiles nested terms by recursion, and a stack
//     overflow ends the process.
//   - CheckReach: rules with too many references, too long chains of them, since OPA evaluates rules by recursion, or
//     too many paths between them, since the compiler visits each path.
//   - CheckWritten: literals that expand to too many values. It follows the sizes of values through variables, rules,
//     `with` and functions, and visits a function once for each size of its operands. Different parts of one value in a
//     literal count as the value once, so that rules can build objects from members of others.
//   - CheckWritten, too: unifications that make a value a part of itself, in a body (unify) and with the keys of a rule
//     (checkKeys).
//
// CheckReach and CheckWritten are stages of the compiler, since nothing could stop the later stages or the evaluation.
//
// Nothing bounds the comparison of two values that contain the same large parts often, built by comprehensions and
// built-ins.
//
// Rejected:
//   - a deny list: it would allow the next network built-in of OPA. A policy may call only built-ins with a known cost.
//   - a counting tracer: with a tracer OPA copies every step, and it reports a value after it exists.
//   - charging a result after the call: the text of a shared value can have any size, and a format with a hundred
//     widths makes 100 MB.
//   - reading the memory of the process: it says nothing about one evaluation.
//   - rewriting rules so that a built-in makes each literal with variables once: 240 lines between the rules and OPA,
//     and it changed the meaning of rules (comprehensions evaluated once, objects of two equal keys, bodies of not).
//   - following the structure of values with the size of each member: twice the code, for rare literals.
//   - unifying terms as OPA does, or counting how deep their variables stand: 60 and 110 lines more, for unifications
//     of two collections with variables on both sides, a rare form.
//   - a registry of our own for OPA: OPA's own registry is one for the process, and comes first.
package limits

// Package compare asks two policy trees every question that either can tell apart, and says where they answer
// differently.
//
// A question is made of five parts that vary independently: what is asked (a row and an action), who is concerned (the
// caller, the user and the account), where (the target), what the user holds, and what is to be granted until when.
// The values of each part are those that the engine can make, with the constants that the compiled rules compare them with and one
// value that is none of them. Values that no rule can tell apart are one.
//
// What rules may do with a column is not bounded: OPA evaluates each of its values. What they may do with an open value (an id, a
// path, a time, the name of a permission, an assignment) is a closed list (follow.go, refs.go, calls.go): they compare it with
// constants, look it up in a table of constants, put it into a reason, ask whether there is one, and, of permissions, look the
// patterns of an action up. Whatever else they do is a gap, which is known before the first question is asked. A random test
// holds that against stock evaluation, with changes far beyond the list.
//
// Assignments are asked about one by one, and some by two. What else a change needs to be seen is counted: a condition that some
// assignment meets stays true with that one, and stays false with none. So what keeps the one tree allowing, with what keeps the
// other from that, says how many assignments have to be held at once. More than one is a gap.
//
// A rule is a function of the inputs that it reads itself and of the values of the rules that it refers to. So each
// rule is evaluated once for each projection on those (rules.go, table.go), and the product of the parts is gone
// through with numbers alone. Rules whose compiled text, data and references are equal in both trees share their values.
//
// Rejected:
//   - one evaluation of the entry point for each question: a hundred times as many;
//   - symbolic evaluation (partial evaluation of the rules, and a solver): it says less about built-ins, and nothing
//     about the reasons that callers are told;
//   - a wrapper around the input that sees what an evaluation reads: OPA compares its own objects without asking them.
package compare

// Package compare finds the questions that two policy trees answer differently.
//
// For example, the old tree has a rule that the new tree lacks:
//
//	deny contains "no keys" if input.principal.credential == "key"
//
// The comparison enumerates the credentials, among them "key", and evaluates both trees. It reports a [Row] for each
// route, action, caller and role with another answer: here a caller with a key, denied by the old tree and allowed by
// the new one. A rule with count(input.subject.id) == 31 would add a [Gap], because the comparison does not enumerate
// lengths of ids.
//
// # Terms
//
// Part: one of five things that make a question and vary independently (paths.go).
//
//   - request: a route of the catalogue and its action;
//   - person: the caller, the user in question and the account;
//   - target: the place in the account, and the state of its project;
//   - holding: the assignments of the user;
//   - grant: the permissions to grant, their end, and the current time.
//
// The comparison enumerates the values of each part. It takes all values of a column, an input with a closed list of
// values such as a status. For an open value, such as an id, a path or a time, it takes the constants that rules compare
// it with and one other value.
//
// Root: a rule under comparison, with the entry point whose questions it gets (compare.go).
//
// Group: all definitions of one rule in one tree (rules.go). The value of a group is a function of the inputs it reads
// and of the values of its dependencies, the groups it refers to. Groups with the same text, data and dependencies in
// both trees share their values.
//
// Table: all questions for one root (table.go). The table evaluates a group once for each combination of what the group
// reads, and numbers the results. The enumeration then compares numbers.
//
// Class: holdings with the same values of all groups that read the holding (classes.go). The comparison asks about one
// holding of each class.
//
// Gap: a use of an open value that the comparison does not follow (gaps.go). Rules may use a column in any way, because
// OPA evaluates each of its values. Of open values a closed list of uses is followed (follow.go, refs.go, calls.go):
// comparison with constants, lookup in a table of constants, use in a reason, a test for presence, and lookup of the
// patterns of an action among permissions. Everything else is a gap, and most gaps are known before the first question.
// A random test checks this against plain evaluation by OPA, with changes far beyond the list.
//
// Needs: how many assignments a difference needs at once (value.go). The comparison asks about single assignments and
// pairs that count. A condition that some assignment meets needs one assignment to stay true, and none to stay false.
// The analyzer adds what keeps one tree allowing to what keeps the other tree from it. If the sum exceeds one, the
// comparison adds pairs with an assignment that does not count, and reports a gap for larger sets.
//
// # Steps
//
// For each root, unless fingerprints and inputs prove equal answers (sameAnswers):
//
//  1. The analyzer follows the rules of both trees, and returns constants, gaps and needs (follow.go).
//  2. newTable enumerates the values of each part, and merges those that no rule can distinguish (mergevalues.go).
//  3. changes finds the groups that differ, and from them the points with possibly different answers (changes.go).
//  4. compare evaluates both trees at these points, once per class of holdings (enumerate.go).
//  5. rows turns the differences into rows, with the route, action, caller and role of each (rows.go).
//
// # Rejected
//
//   - One evaluation of the entry point for each question takes a hundred times as many evaluations.
//   - Symbolic evaluation (partial evaluation of the rules, and a solver) covers fewer built-ins, and no reasons.
//   - A wrapper around the input cannot record what an evaluation reads: OPA compares its own objects without asking it.
package compare

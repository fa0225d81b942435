// Package explain explains a decision: what speaks for and against it, and the smallest changes after which the same
// question is allowed.
//
// The verdict is the engine's own. A change is judged by the same engine, on changed facts. This package knows which
// changes somebody can make, but no rule of the tree. So a fix holds for any tree, with its own conditions and deny
// rules.
//
// Candidates (candidates.go) mend the state of the account, the user and the key, and one way to a role: an assignment
// that does not count yet, or a new one. Every set of at most three steps is judged, the small sets first. Sets with a
// fix in them are skipped, so that each step of a fix is needed. Without a fix, and with a deny rule that fires, pairs
// of assignments are tried, for trees with rules for two roles.
//
// The work is bounded (bounds.go) by judged sets, by counted actions and by time. An answer beyond a bound says that it
// is not complete. A candidate on which the rules fail is not a fix.
//
// The user in question gets an answer of their own (sight.go), without what they may not know. Changes beyond their
// knowledge are not searched either: the rest of the answer would give them away.
//
// Rejected:
//   - partial evaluation of the rules with unknown facts: its residues name conditions on the input, and not changes
//     that somebody can make, and every rule of a tree's author would have to be understood;
//   - the search inside Rego: its cost would be bounded with E3's, and it would be in every tree.
package explain

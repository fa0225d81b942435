// Package explain explains a decision: what speaks for and against it, and the smallest changes after which the same
// question is allowed.
//
// The verdict is the engine's own answer to the question. A change is judged by the same engine on facts to which the
// change was made: this package knows which changes somebody can make, and no rule of the tree. So a fix holds for
// any tree, with its own conditions and deny rules.
//
// Candidates (candidates.go) are what is wrong with the state of the account, the user and the key, and one route
// beside it: an assignment that the subject has and that does not count, or a role to be assigned. Of their steps every
// set of at most three is judged, the small ones first; what contains a fix is left out. So each step of a fix is
// needed. If that finds nothing and a deny rule fires, pairs of assignments are tried, for trees that want two roles.
//
// The work is bounded (bounds.go) by judged sets, by counted actions and by time; what was found until then is the
// answer, which says that it is not complete. A candidate that fails to be judged is no fix.
//
// The user in question gets a form of their own (told.go): it holds back what they may not know. Changes that
// they can't know of are not searched, either, so that how the rest comes out tells nothing of them.
//
// Rejected:
//   - partial evaluation of the rules with unknown facts: its residues name conditions on the input, and not changes
//     that somebody can make, and every rule of a tree's author would have to be understood;
//   - the search inside Rego: its cost would be bounded with E3's, and it would be in every tree.
package explain

// Package policies embeds the Rego tree: the rules (authz), the system roles (grants), the action catalogue (routes),
// the actions of other services (actions) and the schemas of input and data. The binary has the tests of the tree, too:
// package proof checks the embedded tree in the same way as a tree from a folder.
//
// Read reads the files of a tree, embedded or in a folder (Dir), and computes its revision. Dir opens regular files
// only, and none that every user of the machine could change.
//
// Rejected: an embedded tree without its tests. Only the build would have run them then.
package policies

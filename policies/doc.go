// Package policies holds the Rego tree: the rules (authz), the system roles
// (grants), the action catalogue (routes), the actions of other services (actions) and the schemas of input and data. The
// binary carries the tree with its tests, so that the tree it starts with proves
// itself in the same way as one that is loaded from a folder.
//
// Read reads the files of a tree, embedded or in a folder (Dir), and names them by a revision. It reads regular
// files only, and none that every user of the machine could change.
//
// Rejected: an embedded tree without its tests, which would have made the proof of
// the default tree a matter of the build only.
package policies

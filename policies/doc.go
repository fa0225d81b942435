// Package policies holds the Rego tree: the rules (authz), the system roles
// (grants), the action catalogue (routes) and the schemas of input and data. The
// binary carries the tree with its tests, so that the tree it starts with proves
// itself in the same way as one that is loaded from a folder.
//
// Rejected: an embedded tree without its tests, which would have made the proof of
// the default tree a matter of the build only.
package policies

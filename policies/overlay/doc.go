// Package overlay merges an author's own policy with the tree of the program, the base. The result is one tree for all that
// proves, compiles, compares and serves it; nothing behind this package knows of two.
//
// A folder is an overlay if it has a policy.json (manifest.go) whose base is "embedded". It adds to the base and takes nothing
// away by accident: in the base's packages its rules are named own_…, or are one of the extension points that the base leaves
// open (rules.go), and its roles and rows have names that no base uses (data.go). What replaces or removes a part of the base
// is named in the manifest, with the revision of the part that was replaced, so that an upgrade which changes it is noticed.
//
// Files of the base keep their names behind policies.BaseMark in the merged tree, so that a message names the author's file as
// it lies in the folder.
package overlay

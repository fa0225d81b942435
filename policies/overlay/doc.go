// Package overlay merges an author's policy folder with the tree of the program, the base. The result is one tree. Proof,
// engine, comparison and bundles see that tree alone.
//
// A folder is an overlay if its policy.json names the base "embedded" (manifest.go). It adds to the base:
//
//   - rules named own_… in the base's packages, and rules at the base's extension points (rules.go);
//   - roles named own_… and rows named own.…, names that no base uses (data.go);
//   - apps, guards and rules about the decision log.
//
// The manifest lists each part of the base that the folder replaces, with the part's revision. An upgrade that changes such a
// part is reported (parts.go). Any other change of the base is refused.
//
// In the merged tree the base's files have policies.BaseMark before their names. So a message names the author's file as it
// lies in the folder.
package overlay

// Package bundles reads policy trees from OPA's bundles, as `opa build -b` makes them: a gzipped tar archive of the
// modules, with all data in one document. Open checks the archive, has OPA's own reader verify and read it, and returns
// the tree as a policies.Source; the gate (policies/proof) judges it as any other tree.
//
// A bundle has no schemas: those of the binary stand in their place. Its data is found by its path in `data`, so that
// data.grants is the document grants/data.json; the files of modules lose what stands before the folder authz. The
// revision of the manifest is a part of the tree's own revision, which is therefore another one than that of the same
// folder.
//
// An archive has bounds before anything of it is parsed: its size, its files, their sizes and their sum. Links, paths
// that leave the archive, and names that come twice are refused.
//
// Rejected:
//   - a signature that is there and not looked at: without a key a signed bundle is refused, as OPA does;
//   - shared secrets (HS256) as keys: a gateway that can check such a signature can make it;
//   - data that OPA has parsed: a member that is given twice is lost in it.
package bundles

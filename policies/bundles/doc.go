// Package bundles gets policy trees from OPA's bundles, as `opa build -b` makes them: a gzipped tar archive of the
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
// A Feed gets bundles from a file or over HTTPS, and keeps the last good one. Start brings a tree into force before the
// gateway serves: the one at the source, or, if the source fails or its bundle is refused, the last good one of the data
// folder. Follow asks the source again and again, over HTTP with the ETag of the bundle that was judged last, each time
// after --policy-bundle-poll, a fifth more or less, so that replicas don't ask all at once. A bundle is kept when the
// policy has taken it. The file's name has a hash of the source in it: a bundle of another source is not used.
//
// A Feed refuses a signed bundle that is older than the one in force, unless the operator allows it. At a start the kept
// one is the one in force.
//
// Rejected:
//   - a signature that is there and not looked at: without a key a signed bundle is refused, as OPA does;
//   - shared secrets (HS256) as keys: a gateway that can check such a signature can make it;
//   - data that OPA has parsed: a member that is given twice is lost in it;
//   - a kept ETag: the first poll after a start costs one whole answer, and no file has to fit another;
//   - redirects to plain HTTP: somebody in between could give another tree.
package bundles

// Package bundles gets policy trees from OPA's bundles, as `opa build -b` makes them: a gzipped tar archive of the
// modules, with all data in one document. Open checks the archive, has OPA's own reader verify and read it, and returns
// the tree as a policies.Source; the gate (policies/proof) judges it as any other tree.
//
// A bundle has no schemas: Open adds those of the binary. Open finds data by its path in `data`, so data.grants is the
// document grants/data.json; it cuts the path of a module before the folder authz. The revision of the manifest is a
// part of the tree's own revision, so a bundle and its folder have different revisions.
//
// Open bounds an archive before it parses it: its size, its files, their sizes and their sum. It rejects links, paths
// out of the archive, and repeated names.
//
// A Feed gets bundles from a file or over HTTPS, and keeps the last good one. Start brings a tree into force before
// the gateway serves: the one at the source, or, if the source fails or its bundle is rejected, the last good one of
// the data folder. Follow polls the source every --policy-bundle-poll, a fifth more or less, so replicas spread their
// requests. Over HTTP it sends the ETag of the last judged bundle. The Feed keeps a bundle once the policy has taken
// it. The file's name has a hash of the source: a bundle of another source is not used.
//
// A Feed rejects a signed bundle older than the one in force, unless the operator allows it. At a start the kept one
// is the one in force.
//
// Rejected:
//   - Ignoring signatures without a key: a signed bundle is rejected then, as OPA does.
//   - Shared secrets (HS256) as keys: a gateway with the secret could sign bundles too.
//   - Data parsed by OPA: it loses repeated members.
//   - A kept ETag: the first poll after a start costs one whole answer, and no file has to fit another.
//   - Redirects to plain HTTP: somebody in between could give another tree.
package bundles

// Package bundlefeed gets policy bundles from a file or over HTTPS, and keeps the last good one.
//
// Start brings a tree into force before the gateway serves: the one at the source, or, where that can't be had or is
// refused, the last good one of the data folder. Follow asks the source again and again, over HTTP with the ETag of the
// bundle that was judged last, each time after --policy-bundle-poll, a fifth more or less, so that replicas don't ask
// all at once. A bundle is kept when the policy has taken it. The file's name has a hash of the source in it: one that
// was kept of another source is none of this one's.
//
// A signed bundle that is older than the one in force is refused, unless the operator allows it. At a start the kept one
// is the one in force.
//
// Rejected:
//   - a kept ETag: the first poll after a start costs one whole answer, and no file has to fit another;
//   - redirects to plain HTTP: somebody in between could give another tree.
package bundlefeed

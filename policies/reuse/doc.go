// Package reuse says which inputs a verdict depends on, and names the verdict by them: its key.
//
// A Plan is made of the compiled rules of one entry point: the values of the input that they can read. Two questions
// that are equal in these values have one key and one verdict. A plan is nil where the rules are no function of the
// input, or read the time: nothing is reused then.
//
// A subject counts as a whole, by the digest of what the policy is told of it (Facts). The end of an
// assignment shows in running, so that a key holds which ends have come, and a verdict is good until the next one.
// The assignments here, around the target, are named by the narrowest place at which the subject holds a role:
// resources without a role of their own share a verdict.
//
// Rejected:
//   - a verdict with a time to live, or dropped by a message: a revoke would be in force when the one has passed or
//     the other has come;
//   - 64 bits of hash in place of the whole key: two questions could share a verdict;
//   - a proof of which comparisons of the time an end alone can change: running says it.
package reuse

// Package question is the table of what policy is asked: one row for each value that rules can read, with its path, its
// kind and how it is made of the domain's question. The input document and the key of a cached verdict are made of the
// table. policies/schemas/input describes the same rows to OPA's checker.
//
// A column has few values, all known; an open value is free and stands whole in the key; a text is free and names
// somebody, some place or some time. The shipped rules read columns and open values alone. So two users who hold the
// same roles around the target share a verdict, however many users, projects and resources there are.
//
// KeyRows are the rows that the compiled rules of one entry point can read. Two questions with the same values in these
// rows share a key and a verdict. Rules that are not pure functions of the input, or read the time, have no key. A rule
// on a text needs one cached verdict for each value of the text.
//
// The key holds a digest of what the subject holds around the target. The digest is made of the same bytes as
// subject.here (here.go), so an addition to one is an addition to the other. The end of an assignment shows in
// running: a digest is good until the next end.
//
// Rejected:
//   - a verdict with a time to live, or dropped by a message: a revoke would be in force when the one has passed or
//     the other has come;
//   - 64 bits of hash in place of the whole key: two questions could share a verdict;
//   - a table of each user's terms, kept by weak pointers: a cache miss makes what its rules read, and no more.
package question

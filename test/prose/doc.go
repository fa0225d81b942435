// Package prose counts, by package, what makes comments and names hard to read: sentences with two or more relative
// words, phrases with a plainer form, and names that are prepositions or pronouns. testdata/counts.txt lists the most
// that each package may have, and the list only shrinks.
//
// PORTCULLIS_TEST_WRITE=1 go test ./test/prose lowers the list to what it counts, and never raises it.
package prose

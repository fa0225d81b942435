// Package replay judges recorded decisions anew by another policy tree, on the facts that were recorded,
// and says which of them would be answered otherwise.
//
// It never guesses: a record of which a part was masked, or that policy was not asked about, is counted
// and not judged.
package replay

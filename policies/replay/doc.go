// Package replay judges recorded decisions anew by another policy tree, on the facts that were recorded,
// and says which of them would be answered otherwise.
//
// It never guesses. A decision of which a mask has left out a part is judged where no rule that it rests
// on reads that part (engine.Rejudge), else it is counted and not judged; so is one that policy was not
// asked about. A decision that the tree fails on is counted as that: the caller would have got none.
//
// A call of a route is asked about as the new tree's row of that name has it, as the gateway would ask.
// Where that row is, and so whether the call would still come to it, is not recorded.
package replay

// Package replay judges recorded decisions by another policy tree, on the recorded facts, and reports which verdicts
// would change.
//
// It never guesses. It judges a masked decision only if the rules read no masked part (engine.Rejudge). Otherwise the
// decision counts as not judged, as does one without a question to policy. A decision counts as failed if the tree
// fails on it: the caller would get no verdict.
//
// A call is judged as a call of the new tree's row with the same name. Whether its method and path would still lead to
// that row is not recorded.
package replay

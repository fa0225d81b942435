// Package overlay builds the program without one of its conditions, for tests that have to be seen
// to fail: a few lines are replaced at build time (go build -overlay), so that no unsafe variant
// stands in the program's source. What a mutant replaces has to stand there exactly once; whoever
// changes those lines changes the mutant. Rejected: build tags and switches in the program, which
// would be shipped.
package overlay

// Package overlay builds the program without one of its conditions, for tests that have to be seen
// to fail: a few lines are replaced at build time (go build -overlay), so that no unsafe variant
// stands in the program's source. The lines that a mutant replaces have to stand there exactly
// once; a change of those lines is a change of the mutant. Rejected: build tags and switches in the program, which
// would be shipped.
package overlay

// Package overlay builds the program without one of its conditions, for tests of the tests: a few lines are replaced at
// build time (go build -overlay). So the program's source has no unsafe variant. A mutant's replaced lines have to
// stand there exactly once; a change of these lines needs a change of the mutant. Rejected: build tags and switches in
// the program, since they would be shipped.
package overlay

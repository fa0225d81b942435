package explain

import "time"

// Bounds of an explanation.
const (
	// maxSteps bounds the steps of a fix, maxFixes the fixes of an answer.
	maxSteps = 3
	maxFixes = 10
	// maxGrants bounds the assignments of an answer; those that count come first.
	maxGrants = 100
	// maxRoutes bounds the ways that are tried; roles with the fewest permissions come first.
	maxRoutes = 64
	// maxMended bounds the ways that mend an assignment.
	maxMended = 32
	// maxJudged bounds the judged sets of steps.
	maxJudged = 2_000
	// maxFound bounds the fixes of one size that are compared.
	maxFound = 24
	// maxCounted bounds the actions that are judged to compare fixes. A tree with many actions compares fewer fixes.
	maxCounted = 20_000
	// maxWide bounds the ways, and the further roles for each, that are tried in pairs.
	maxWide = 16
	// searchTime bounds the search by the clock.
	searchTime = 3 * time.Second
)

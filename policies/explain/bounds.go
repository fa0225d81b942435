package explain

import "time"

// Bounds of an explanation.
const (
	// maxSteps is how many steps a fix has, maxFixes how many fixes are told.
	maxSteps = 3
	maxFixes = 10
	// maxGrants is how many assignments are told: those that count come first.
	maxGrants = 100
	// maxRoutes is how many routes are tried: roles with the fewest permissions come first.
	maxRoutes = 64
	// maxMended is how many of the routes are assignments that the subject has.
	maxMended = 32
	// maxJudged is how many sets of steps are judged.
	maxJudged = 2_000
	// maxFound is how many fixes of one size are compared.
	maxFound = 24
	// maxCounted is how many actions are judged to compare fixes; fewer fixes are compared where a tree has many.
	maxCounted = 20_000
	// maxWide is how many routes, and how many further roles for each, are tried in pairs.
	maxWide = 16
	// searchTime bounds the search by the clock.
	searchTime = 3 * time.Second
)

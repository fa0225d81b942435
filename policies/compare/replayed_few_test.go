//go:build !nightly

package compare_test

// foretoldContexts is of how many contexts TestAReplayFindsWhatWasForetold asks all that a user may hold, at each entry point.
const foretoldContexts = 3

func moreReplayedEdits() []edit { return nil }

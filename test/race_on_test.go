//go:build race

package test_test

import "time"

// raceEnabled, with PORTCULLIS_TEST_RACE set, has the program under test built with the
// race detector too; each of its many starts then takes ten times as long.
const raceEnabled = true

// reloadWithin is how long an edit of a policy may take to be in force; the race
// detector makes the tree's own tests several times slower.
const reloadWithin = 30 * time.Second

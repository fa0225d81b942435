//go:build !race

package test_test

import "time"

// raceEnabled, with PORTCULLIS_TEST_RACE set, has the program under test built with the
// race detector too; each of its many starts then takes ten times as long.
const raceEnabled = false

// reloadWithin is how long an edit of a policy may take to be in force on a machine
// that other tests keep busy; on an idle one it is within a second.
const reloadWithin = 10 * time.Second

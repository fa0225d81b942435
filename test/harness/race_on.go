//go:build race

package harness

// raceEnabled, with PORTCULLIS_TEST_RACE set, has the program under test built with the
// race detector too; each of its many starts then takes ten times as long.
const raceEnabled = true

//go:build !race

package engine_test

// raceEnabled says that times are those of the race detector.
const raceEnabled = false

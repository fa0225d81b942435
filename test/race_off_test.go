//go:build !race

package test_test

// raceEnabled has the program under test built with the race detector too.
const raceEnabled = false

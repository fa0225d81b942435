//go:build !race

package proof_test

// raceEnabled says that the race detector is in the process.
const raceEnabled = false

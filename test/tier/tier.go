package tier

import "testing"

// Check leaves a test to `make check`: `make test`, which runs `go test -short`, skips it and names it at its end.
func Check(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make check")
	}
}

// Amount returns how much a test does of what it could do without end: check in `make check`, and test in `make test`.
func Amount(check, test int) int {
	if testing.Short() {
		return test
	}
	return check
}

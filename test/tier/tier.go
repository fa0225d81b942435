package tier

import "testing"

// Check leaves a test to `make check`: `make test`, which runs `go test -short`, skips it and names it at its end.
func Check(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make check")
	}
}

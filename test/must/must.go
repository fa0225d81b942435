// Package must ends a test at the error of a step that the test needs and does not test. Only tests import it.
package must

import "testing"

// Do ends the test where err is not nil. Like t.Fatal, it belongs in the test's own goroutine.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is Do for a step with a value, which it returns. The test comes last.
//
//	text := must.Get(os.ReadFile(path))(t)
func Get[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Two is Get for a step with two values.
func Two[T, U any](v T, u U, err error) func(t testing.TB) (T, U) {
	return func(t testing.TB) (T, U) {
		t.Helper()
		Do(t, err)
		return v, u
	}
}

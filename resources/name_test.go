package resources_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestNamesAreOneLine checks that names have no line separators and no marks of direction.
func TestNamesAreOneLine(t *testing.T) {
	for _, s := range []string{"a\nb", "a\rb", "a\u0085b", "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b", "a\x1bb", "a\x00b"} {
		if resources.ValidName(s) {
			t.Errorf("%q is accepted", s)
		}
	}
	for _, s := range []string{"a b", "a\u00a0b", "\u05d0\u05d1", "\U0001f600", "a\u3000b"} {
		if !resources.ValidName(s) {
			t.Errorf("%q is refused", s)
		}
	}
}

package policytest

import (
	"os"
	"strings"
	"testing"
)

// Reference is the page for authors with parts that the tests below policies generate.
const Reference = "../../docs/author/reference.md"

// MadePart compares a part of the reference, from <!-- name --> to <!-- end -->, with the text. `make reference` writes
// the text there.
func MadePart(t testing.TB, name, text string) {
	t.Helper()
	raw, err := os.ReadFile(Reference)
	if err != nil {
		t.Fatal(err)
	}
	mark := "<!-- " + name + " -->\n"
	before, rest, begun := strings.Cut(string(raw), mark)
	_, after, ended := strings.Cut(rest, "<!-- end -->")
	if !begun || !ended {
		t.Fatalf("%s has no %s with its <!-- end -->", Reference, mark)
	}
	page := before + mark + text + "<!-- end -->" + after
	switch {
	case page == string(raw):
	case os.Getenv("PORTCULLIS_TEST_WRITE") == "":
		t.Errorf("%s and the program differ in %s; run `make reference`", Reference, name)
	default:
		if err := os.WriteFile(Reference, []byte(page), 0o600); err != nil { //nolint:gosec // the name is a constant
			t.Fatal(err)
		}
	}
}

// Wrapped returns a paragraph in lines of at most 120 characters.
func Wrapped(text string) string {
	var lines strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
		case width+1+len(word) > 120:
			lines.WriteByte('\n')
			width = 0
		default:
			lines.WriteByte(' ')
			width++
		}
		lines.WriteString(word)
		width += len(word)
	}
	return lines.String() + "\n"
}

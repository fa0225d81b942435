package outbox

import (
	"strings"
	"unicode"
)

const (
	// maxName bounds the name of an account in a mail, in characters. The subject of a mail is
	// read in a list.
	maxName = 100
	// maxError bounds the error that is stored with a message, in characters.
	maxError = 500
)

// cleanLine returns the text as one line of at most limit characters. It replaces white space by
// single spaces, and removes control characters and marks of direction, which can show one name as
// another.
//
// The mail library folds a long header at each space. Two folds in a row would be an empty line, which
// ends the header.
func cleanLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	seen := 0
	for i := range s {
		if seen == limit-1 && len([]rune(s[i:])) > 1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		seen++
	}
	return s
}

package outbox

import (
	"strings"
	"unicode"
)

const (
	// maxName bounds an account's name in a mail, in characters: a subject is to be read
	// in a list.
	maxName = 100
	// maxError bounds the reason that is kept with a message, in characters.
	maxError = 500
)

// cleanLine makes one line of foreign text, of at most limit characters: white space of
// any kind becomes a single space, control characters go, and so do those that turn the
// direction of the text around them, by which one name can be shown as another.
//
// Single spaces also matter to the mail library: it folds a long header at each space,
// and two folds in a row would be an empty line, which ends the header.
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

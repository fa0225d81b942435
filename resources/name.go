package resources

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds a name in characters.
const maxName = 255

// NameRule describes to callers what ValidName accepts.
const NameRule = "must be 1 to 255 characters, spaces around it not counted, without control characters"

// ValidName says whether a trimmed name has 1 to 255 characters and is Showable.
func ValidName(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= maxName && Showable(s)
}

// Showable says whether a text leaves the text around it as it is. Control characters, line
// separators and marks of direction do not.
func Showable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}

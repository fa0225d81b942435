package resources

import (
	"unicode"
	"unicode/utf8"
)

// maxName bounds a name in characters.
const maxName = 255

// NameRule says what ValidName accepts, for error messages.
const NameRule = "must be 1 to 255 characters, spaces around it not counted, without control characters"

// ValidName says whether a trimmed name has its length and can be shown anywhere.
func ValidName(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= maxName && Showable(s)
}

// Showable says whether text can be shown anywhere: a control character, one that ends a
// line or one that turns the direction of text would change what stands around it.
func Showable(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return false
		}
	}
	return true
}

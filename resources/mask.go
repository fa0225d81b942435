package resources

import (
	"strings"
	"unicode"
)

// MaskCredentials replaces each credential in a text by `…`: an API key or the beginning of
// one, a JWT, and what follows the word Bearer. Percent-encoding hides none. What is
// replaced never holds a quotation mark, nor part of an escape: a line of JSON stays one.
//
// It takes time in proportion to the text, which strangers choose: regular expressions take
// a hundred times as long.
func MaskCredentials(text string) string {
	text = mask(text, text, nil)
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	plain, at := undoPercent(text)
	return mask(text, plain, at)
}

// HoldsCredential says whether MaskCredentials replaces something.
func HoldsCredential(text string) bool { return MaskCredentials(text) != text }

// mask replaces in text what is a credential in plain; at is where each byte of plain stands
// in text, nil for the same place.
func mask(text, plain string, at []int) string {
	start, end := findCredential(plain, 0)
	if start < 0 {
		return text
	}
	var out strings.Builder
	done := 0
	for ; start >= 0; start, end = findCredential(plain, end) {
		from, to := start, end
		if at != nil {
			from, to = at[start], at[end]
		}
		out.WriteString(text[done:from])
		out.WriteString("…")
		done = to
	}
	out.WriteString(text[done:])
	return out.String()
}

// undoPercent undoes percent-encoding, also over and over. at is where each byte of plain
// stood, and one more for its end.
func undoPercent(text string) (plain string, at []int) {
	out := make([]byte, 0, len(text))
	at = make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		at = append(at, i)
		c, size := percentByte(text[i:])
		out = append(out, c)
		i += size
	}
	return string(out), append(at, len(text))
}

// percentByte is the byte with which a text begins, and in how many it is written.
func percentByte(text string) (c byte, size int) {
	if text[0] != '%' {
		return text[0], 1
	}
	size = 1
	for strings.HasPrefix(text[size:], "25") {
		size += 2
	}
	if len(text) < size+2 {
		return '%', size
	}
	high, ok := hexDigit(text[size])
	low, also := hexDigit(text[size+1])
	if !ok || !also {
		return '%', size
	}
	return high<<4 | low, size + 2
}

func hexDigit(c byte) (value byte, ok bool) {
	switch lower := c | ' '; {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= lower && lower <= 'f':
		return lower - 'a' + 10, true
	}
	return 0, false
}

// findCredential is where the next credential's secret part begins and ends, from a place
// on; start is -1 where there is none.
func findCredential(text string, from int) (start, end int) {
	for i := from; i < len(text); i = end {
		if end = i + 1; !isTokenByte(text[i]) {
			continue
		}
		for end < len(text) && isTokenByte(text[end]) {
			end++
		}
		start = -1
		if secret := secretIn(text[i:end]); secret >= 0 {
			start = i + secret
		}
		if value := bearerValue(text, i, end); value > end {
			if start < 0 {
				start = end
			}
			end = value
		}
		if start >= 0 {
			return start, end
		}
	}
	return -1, -1
}

// Three parts of these lengths are taken for a JWT: JSON may begin otherwise than with `{"`.
const (
	leastTokenPart      = 20
	leastTokenSignature = 43 // of 32 bytes
)

// secretIn is where in a run of characters of tokens the secret part of a credential
// begins, -1 where there is none: the kind of the credential stays.
func secretIn(run string) int {
	var first, second, third int // where the last three parts between dots begin
	lastDot := strings.LastIndexByte(run, '.')
	if lastDot < 0 && (len(run) <= len(apiKeyPrefix) || strings.IndexByte(run, '_') < 0) { // as most words are
		return -1
	}
	for i := range len(run) {
		switch c := run[i]; {
		case c == '.':
			first, second, third = second, third, i+1
		case c == 'e' && i < lastDot && strings.HasPrefix(run[i:], "eyJ"):
			return i + len("eyJ")
		case c|' ' == 'p' && len(run)-i > len(apiKeyPrefix) && strings.EqualFold(run[i:i+len(apiKeyPrefix)], apiKeyPrefix):
			return i + len("pcl_sk_")
		}
		if i+1-third >= leastTokenSignature && third-1-second >= leastTokenPart && second-1-first >= leastTokenPart {
			return first
		}
	}
	return -1
}

// bearerValue is where the value ends that follows a run which ends in the word Bearer; the
// end of the run where none does. A value may end in the word again.
func bearerValue(text string, from, end int) int {
	const word = "bearer"
	if text[end-1]|' ' != 'r' { // as most words end
		return end
	}
	for {
		before := strings.TrimRight(text[from:end], "+")
		if len(before) < len(word) || !strings.EqualFold(before[len(before)-len(word):], word) {
			return end
		}
		value := skipGap(text, end)
		last := value
		for last < len(text) && text[last] > ' ' && text[last] != '"' && text[last] != '\\' {
			last++
		}
		if value == from+len(before) || last == value {
			return end
		}
		from, end = value, last
	}
}

// skipGap is where the white space ends that begins at i, as a header, a form or a string of
// a log has it.
func skipGap(text string, i int) int {
	for i < len(text) {
		switch c := text[i]; {
		case c <= ' ' || c == '+':
			i++
		case c == '\\' && i+1 < len(text):
			size := escapeSize(text[i+1])
			if size == 0 || i+size > len(text) {
				return i
			}
			i += size
		default:
			return i
		}
	}
	return i
}

// escapeSize returns the length of the escape that begins with a backslash and c, 0 where
// none does.
func escapeSize(c byte) int {
	switch c {
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		return len(`\n`)
	case 'x':
		return len(`\x00`)
	case 'u':
		return len(`\u0000`)
	}
	return 0
}

// isTokenByte says whether the character may stand in an API key or a JWT.
func isTokenByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		return true
	}
	return false
}

// Unseen says whether a character can't be seen where it is shown, or changes what stands
// around it: controls, marks of direction, separators, what has no width, and any white
// space but the ordinary one.
func Unseen(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

package resources

import (
	"encoding/hex"
	"strings"
	"unicode"
)

// MaskCredentials replaces each credential in a text by `…`: an API key or the beginning of
// one, a JWT, and the text after the word Bearer. It finds percent-encoded ones too. It
// replaces no quotation mark and no part of an escape, so a line of JSON stays one.
//
// Its time grows linearly with the text, which clients choose.
func MaskCredentials(text string) string {
	if !mayHoldCredential(text) {
		return text
	}
	text = mask(text, text, nil)
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	plain, offsets := undoPercent(text)
	return mask(text, plain, offsets)
}

// HoldsCredential says whether MaskCredentials would replace something.
func HoldsCredential(text string) bool { return MaskCredentials(text) != text }

// mayHoldCredential is false for most texts without a credential. Each credential has a dot (a JWT), begins with pcl_ (an
// API key), or has white space behind an r (the word Bearer), and all of that may be percent-encoded.
func mayHoldCredential(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '.', '%':
			return true
		case '_':
			if i >= len("pcl") && strings.EqualFold(text[i-len("pcl"):i], "pcl") {
				return true
			}
		case 'r', 'R':
			if i+1 < len(text) && (text[i+1] <= ' ' || text[i+1] == '+' || text[i+1] == '\\') {
				return true
			}
		}
	}
	return false
}

// mask replaces the parts of text that are credentials in plain, the decoded text. offsets holds the
// place in text of each byte of plain; nil means the same place.
func mask(text, plain string, offsets []int) string {
	start, end := findCredential(plain, 0)
	if start < 0 {
		return text
	}
	var out strings.Builder
	done := 0
	for ; start >= 0; start, end = findCredential(plain, end) {
		first, last := start, end
		if offsets != nil {
			first, last = offsets[start], offsets[end]
		}
		out.WriteString(text[done:first])
		out.WriteString("…")
		done = last
	}
	out.WriteString(text[done:])
	return out.String()
}

// undoPercent decodes percent-encoding, repeated encoding too. offsets holds the place in text of
// each byte of plain, and of its end.
func undoPercent(text string) (plain string, offsets []int) {
	out := make([]byte, 0, len(text))
	offsets = make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		offsets = append(offsets, i)
		c, size := percentByte(text[i:])
		out = append(out, c)
		i += size
	}
	return string(out), append(offsets, len(text))
}

// percentByte decodes the first byte of a text and returns how many bytes its encoding has.
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
	var decoded [1]byte
	if _, err := hex.Decode(decoded[:], []byte(text[size:size+2])); err != nil {
		return '%', size
	}
	return decoded[0], size + 2
}

// findCredential returns the bounds of the secret part of the next credential, at from or after it; start is -1 for
// none.
func findCredential(text string, first int) (start, end int) {
	for i := first; i < len(text); i = end {
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

// Least lengths of the parts of a JWT. Three parts of these lengths between dots are taken for a JWT, with any first
// characters.
const (
	leastTokenPart      = 20
	leastTokenSignature = 43 // 32 bytes in base64
)

// secretIn returns the index of a credential's secret part in a run of token characters, -1 for none. The prefix with
// the credential's kind is not part of it.
func secretIn(run string) int {
	var first, second, third int // where the last three parts between dots begin
	lastDot := strings.LastIndexByte(run, '.')
	if lastDot < 0 && (len(run) <= len(apiKeyPrefix) || strings.IndexByte(run, '_') < 0) { // most words end here
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

// bearerValue returns the end of the value after the run text[from:end] if the run ends in the word Bearer, and end
// otherwise. The value may end in the word again.
func bearerValue(text string, start, end int) int {
	const word = "bearer"
	if text[end-1]|' ' != 'r' { // most words end here
		return end
	}
	for {
		before := strings.TrimRight(text[start:end], "+")
		if len(before) < len(word) || !strings.EqualFold(before[len(before)-len(word):], word) {
			return end
		}
		value := skipGap(text, end)
		last := value
		for last < len(text) && text[last] > ' ' && text[last] != '"' && text[last] != '\\' {
			last++
		}
		if value == start+len(before) || last == value {
			return end
		}
		start, end = value, last
	}
}

// skipGap returns the end of the white space at i. A plus sign (of a form) and an escape (of a log line) count as white
// space.
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

// escapeSize returns the length of the escape of a backslash and c, 0 for none.
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
	lower := c | ' '
	return 'a' <= lower && lower <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// Unseen says whether a character is invisible or changes the text around it: controls, marks
// of direction, separators, characters without width, and white space other than U+0020.
func Unseen(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

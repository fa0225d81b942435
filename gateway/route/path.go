package route

import (
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxPath bounds a path in bytes as it was sent (API contract, 3, E3).
const maxPath = 2048

// PathProblems returns the problems of a relative path as it was sent: everything two servers could
// read differently. Without problems, every common normaliser keeps these bytes as they are.
func PathProblems(path string) []string {
	switch {
	case path == "":
		return []string{"is empty; it must have a segment"}
	case len(path) > maxPath:
		return []string{"is longer than 2048 bytes"}
	}
	f := &findings{}
	decoded := scanPath(path, f)
	scanSegments(path, f)
	if !utf8.ValidString(decoded) {
		f.add("is not valid UTF-8 when it is decoded")
	}
	for _, r := range decoded {
		switch {
		case r < utf8.RuneSelf: // was looked at
		case unicode.IsControl(r):
			f.add("holds a control character")
		case looksLikeSyntax(r):
			f.add("holds a character that some servers read as a dot, slash, backslash, percent sign or semicolon")
		}
	}
	return f.list
}

// findings keeps each problem once, in the order of discovery.
type findings struct{ list []string }

func (f *findings) add(problem string) {
	if !slices.Contains(f.list, problem) {
		f.list = append(f.list, problem)
	}
}

// scanPath looks at each byte and escape, and gives the path decoded once.
func scanPath(path string, f *findings) string {
	if strings.IndexByte(path, '%') < 0 { // most paths are as they are
		for i := range len(path) {
			rawByte(path[i], f)
		}
		return path
	}
	var decoded strings.Builder
	decoded.Grow(len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c != '%' {
			rawByte(c, f)
			decoded.WriteByte(c)
			continue
		}
		var escaped [1]byte
		if n, _ := hex.Decode(escaped[:], []byte(path[i+1:min(i+3, len(path))])); n == 0 { // two digits make one byte
			f.add("holds a % that is not followed by two hexadecimal digits")
			continue
		}
		escapedByte(escaped[0], f)
		decoded.WriteByte(escaped[0])
		i += 2
	}
	return decoded.String()
}

// rawByte refuses what may not stand in a path, or means something else to somebody.
func rawByte(c byte, f *findings) {
	switch {
	case isUnreserved(c) || c == '/': // most bytes
	case c < 0x20 || c == 0x7f:
		f.add("holds a control character")
	case c == '?':
		f.add("holds a ?; a query is not part of what is authorized")
	case c == '#':
		f.add("holds a #")
	case c == '\\':
		f.add(`holds a \`)
	case c == ';':
		f.add("holds a ; (path parameters are read differently by different servers)")
	case c >= utf8.RuneSelf, strings.IndexByte(" \"<>[]^`{|}", c) >= 0:
		f.add("holds a character that must be percent-encoded in a path")
	}
}

// escapedByte refuses escapes that somebody undoes or reads as syntax.
func escapedByte(c byte, f *findings) {
	switch {
	case c == 0:
		f.add("holds an encoded NUL")
	case c < 0x20 || c == 0x7f:
		f.add("holds a control character")
	case c == '/':
		f.add("holds an encoded /")
	case c == '\\':
		f.add(`holds an encoded \`)
	case c == '%':
		f.add("holds an encoded %")
	case c == ';':
		f.add("holds an encoded ;")
	case c == '.':
		f.add("holds an encoded .")
	case isUnreserved(c):
		f.add("holds an encoded letter, digit, -, _ or ~; send it as it is")
	}
}

// scanSegments refuses empty and dot segments, also with spaces: some servers trim a segment first. An encoded dot is
// refused as such.
func scanSegments(path string, f *findings) {
	if strings.HasSuffix(path, "/") {
		f.add("ends with a /")
		path = strings.TrimSuffix(path, "/")
	}
	for segment := range strings.SplitSeq(path, "/") {
		dots := strings.Contains(segment, ".")
		if decoded, err := url.PathUnescape(segment); err == nil {
			segment = decoded
		}
		switch {
		case strings.Trim(segment, " ") == "":
			f.add("holds an empty segment (//)")
		case dots && resources.IsDotSegment(segment):
			f.add("holds a . or .. segment")
		}
	}
}

// looksLikeSyntax names the characters turned into path syntax by compatibility normalisation (NFKC
// of Unicode 15) or by a legacy code page's best fit.
func looksLikeSyntax(r rune) bool {
	switch r {
	case '\u2024', '\u2025', '\u2026', '\uFE19', '\uFE30', '\uFE52', '\uFF0E', // dots
		'\u33C2', '\u33C7', '\u33D8', '\U0001F100', // a.m., Co., p.m., 0.
		'\u2100', '\u2101', '\u2105', '\u2106', '\uFF0F', '\u2044', '\u2215', // a/c, a/s, c/o, c/u, slashes
		'\uFE68', '\uFF3C', '\u2216', // backslashes
		'\uFE6A', '\uFF05', // percent signs
		'\u037E', '\uFE14', '\uFE54', '\uFF1B': // semicolons
		return true
	}
	return '\u2488' <= r && r <= '\u249B' // 1. to 20.
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '~'
}

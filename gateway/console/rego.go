package console

import (
	"strings"
	"unicode"
)

// piece is a part of a line of source text. Class is k (keyword), s (string), c (comment), n (number) or "".
type piece struct{ Class, Text string }

// regoWords are the keywords of Rego and JSON.
var regoWords = words("package import default as with not if else some every in contains true false null")

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, one := range strings.Fields(text) {
		out[one] = true
	}
	return out
}

// linesOf splits Rego or JSON into lines and parts. A raw string may span lines.
func linesOf(source string) (out [][]piece) {
	source = strings.TrimSuffix(strings.ReplaceAll(strings.ToValidUTF8(source, "\ufffd"), "\r\n", "\n"), "\n")
	line := []piece{}
	for source != "" {
		size, class := nextPiece(source)
		text := source[:size]
		source = source[size:]
		parts := strings.Split(text, "\n")
		for i, part := range parts {
			if part != "" {
				line = append(line, piece{class, part})
			}
			if i < len(parts)-1 {
				out, line = append(out, line), []piece{}
			}
		}
	}
	return append(out, line)
}

// nextPiece returns the size (bytes) and the class of the first part of a non-empty text.
func nextPiece(text string) (size int, class string) {
	switch first := text[0]; {
	case first == '#':
		return upTo(text, "\n"), "c"
	case first == '"':
		return quoted(text), "s"
	case first == '`':
		end := strings.IndexByte(text[1:], '`')
		if end < 0 {
			return len(text), "s"
		}
		return end + 2, "s"
	case first >= '0' && first <= '9':
		return span(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' }), "n"
	}
	if size := span(text, inWord); size > 0 {
		if regoWords[text[:size]] {
			return size, "k"
		}
		return size, ""
	}
	return span(text, func(r rune) bool { return !inWord(r) && !strings.ContainsRune("#\"`0123456789", r) }), ""
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// span returns the size (bytes) of the leading characters that satisfy is.
func span(text string, is func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !is(r) }); end >= 0 {
		return end
	}
	return len(text)
}

func upTo(text, mark string) int {
	if end := strings.Index(text, mark); end >= 0 {
		return end
	}
	return len(text)
}

// quoted returns the size (bytes) of a quoted string, which ends at the end of the line at the latest.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(text)
}

package question

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, text := range texts {
		b = appendText(b, text)
	}
	return b
}

func appendFlag(b []byte, flag bool) []byte {
	if flag {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendNumber(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }

func appendDigest(b []byte, sum [sha256.Size]byte) []byte { return append(b, sum[:]...) }

// reader reads bytes that this package has made.
type reader struct{ rest []byte }

func (r *reader) length() int {
	n, size := binary.Uvarint(r.rest)
	r.rest = r.rest[size:]
	return int(n) //nolint:gosec // the length of something in memory
}

func (r *reader) text() string {
	n := r.length()
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *reader) texts() []string {
	texts := make([]string, r.length())
	for i := range texts {
		texts[i] = r.text()
	}
	return texts
}

func (r *reader) flag() *ast.Term {
	set := r.rest[0] == 1
	r.rest = r.rest[1:]
	return ast.InternedTerm(set)
}

// sorted has each member once.
func sorted(members []string) []string {
	members = slices.Clone(members)
	slices.Sort(members)
	return slices.Compact(members)
}

// wordAmong returns the word, "" for one that is not among those known.
func wordAmong(words []string, word string) string {
	if slices.Contains(words, word) {
		return word
	}
	return ""
}

// bytesOfTerms has of each term its kind, a length and the content: no two terms have the same bytes.
type bytesOfTerms []byte

// term appends a term, so that unlike terms have unlike bytes.
func (b *bytesOfTerms) term(t *ast.Term) {
	switch v := t.Value.(type) {
	case ast.String:
		*b = appendText(append(*b, 's'), string(v))
	case ast.Object:
		*b = binary.AppendUvarint(append(*b, 'o'), uint64(v.Len())) //nolint:gosec // a length
		v.Foreach(b.pair)
	case *ast.Array:
		*b = binary.AppendUvarint(append(*b, 'a'), uint64(v.Len())) //nolint:gosec // a length
		v.Foreach(b.term)
	default: // a number or a boolean
		*b = appendText(append(*b, 'v'), v.String())
	}
}

func (b *bytesOfTerms) pair(key, value *ast.Term) {
	b.term(key)
	b.term(value)
}

package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// digest names what the policy is told of a subject. It is taken of the input's own
// terms, so that nothing which is added to them can be left out of it.
func digest(terms ...*ast.Term) [sha256.Size]byte {
	b := make(bytesOfTerms, 0, 1024)
	for _, t := range terms {
		b.term(t)
	}
	return sha256.Sum256(b)
}

// bytesOfTerms has of each term its kind, a length and the content: no two have the
// same bytes.
type bytesOfTerms []byte

func (b *bytesOfTerms) term(t *ast.Term) {
	switch v := t.Value.(type) {
	case ast.String:
		*b = appendText(append(*b, 's'), string(v))
	case ast.Object:
		*b = binary.AppendVarint(append(*b, 'o'), int64(v.Len()))
		v.Foreach(b.pair)
	case *ast.Array:
		*b = binary.AppendVarint(append(*b, 'a'), int64(v.Len()))
		v.Foreach(b.term)
	default: // a number or a boolean
		*b = appendText(append(*b, 'v'), v.String())
	}
}

func (b *bytesOfTerms) pair(key, value *ast.Term) {
	b.term(key)
	b.term(value)
}

// ends are the instants at which assignments end, in order; one that has no end has
// that of the input.
func ends(held []resources.HeldRole) []resources.Time {
	out := make([]resources.Time, 0, len(held))
	for i := range held {
		out = append(out, endOf(held[i].ExpiresAt))
	}
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

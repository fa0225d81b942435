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
	b := make([]byte, 0, 1024)
	for _, t := range terms {
		b = appendValue(b, t.Value)
	}
	return sha256.Sum256(b)
}

// appendValue writes a kind, a length and the content: no two values have the same bytes.
func appendValue(b []byte, v ast.Value) []byte {
	switch v := v.(type) {
	case ast.String:
		return appendText(append(b, 's'), string(v))
	case ast.Object:
		b = binary.AppendVarint(append(b, 'o'), int64(v.Len()))
		v.Foreach(func(key, value *ast.Term) { b = appendValue(appendValue(b, key.Value), value.Value) })
		return b
	case *ast.Array:
		b = binary.AppendVarint(append(b, 'a'), int64(v.Len()))
		v.Foreach(func(t *ast.Term) { b = appendValue(b, t.Value) })
		return b
	}
	return appendText(append(b, 'v'), v.String()) // a number or a boolean
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

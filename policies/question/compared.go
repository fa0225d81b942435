package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Compared says which values of a text are alike to the rules of an entry point, which only compare it with constants: all
// that equal none of them and begin with the same prefixes, and, of a number, lie between the same two.
type Compared struct {
	// Constants are in order. Where the text is a number, so are those of another type, which it never equals.
	Constants []ast.Value
	Prefixes  []string
}

// compared returns the texts that rules only compare with constants, by their rows.
func (u *Uses) compared() map[int]*Compared {
	out := map[int]*Compared{}
	if len(u.Others[""]) > 0 {
		return out
	}
	for i := range table() {
		row := &table()[i]
		if row.Kind == Text && row.Type != "object" && len(u.Others[row.Path])+len(u.Printed[row.Path]) == 0 {
			out[i] = &Compared{u.Constants[row.Path], u.Prefixes[row.Path]}
		}
	}
	return out
}

// appendTo appends what tells a value from those that are not alike.
func (c *Compared) appendTo(b []byte, value ast.Value) []byte {
	at, equal := slices.BinarySearchFunc(c.Constants, value, func(a, b ast.Value) int { return a.Compare(b) })
	text, isText := value.(ast.String)
	if isText && !equal {
		at = -1 // texts have no order here
	}
	b = appendFlag(appendNumber(b, int64(at)), equal)
	for _, prefix := range c.Prefixes {
		b = appendFlag(b, strings.HasPrefix(string(text), prefix))
	}
	return b
}

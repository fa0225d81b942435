package limits

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// ofGlob rejects a large pattern: its compilation recurses as deep as its brackets. OPA caches a hundred. It counts a step
// for each way to lay the pattern's pieces on the text. The matcher tries them all, and nothing stops it.
func ofGlob(operands []*ast.Term, budget int) int {
	pattern, text := textAt(operands, 0), textAt(operands, 2)
	if part*len(pattern) > maxPattern {
		return tooMuch
	}
	ways := stepMakes
	for piece := range strings.SplitSeq(pattern, "*") {
		for _, more := range waysToLay(piece, text) {
			if ways *= more; ways > budget {
				return tooMuch
			}
		}
	}
	return ways
}

// waysToLay returns factors of the number of ways to lay a piece without * on a text. Each group of alternatives can have
// its own length, anything else in a piece has one.
func waysToLay(piece, text string) (factors []int) {
	if strings.ContainsAny(piece, `?[]{},\`) {
		for range max(1, strings.Count(piece, "{")) {
			factors = append(factors, 1+len(text))
		}
		return append(factors, 1+strings.Count(piece, ","))
	}
	places := 1
	for rest := text; piece != ""; places++ {
		next := strings.Index(rest, piece)
		if next < 0 {
			break
		}
		rest = rest[next+1:]
	}
	return []int{places}
}

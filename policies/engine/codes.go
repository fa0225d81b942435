package engine

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxCodes bounds the codes that a tree gives its reasons, as labels of a metric.
const maxCodes = 200

// reasonTexts is the document of a tree's reasons by their codes.
const reasonTexts = "data.authz.reason_texts"

// Codes returns the codes of the tree's reasons that are constants, sorted, at most 200 of them.
func (e *Engine) Codes() []string {
	prefix := ast.MustParseRef(reasonTexts)
	var codes []string
	for _, rule := range e.current.Load().tree.Compiler.GetRulesWithPrefix(prefix) {
		if ref := rule.Ref(); len(ref) > len(prefix) {
			codes = appendTexts(codes, ref[len(prefix)])
		} else if object, ok := rule.Head.Value.Value.(ast.Object); ok {
			codes = appendTexts(codes, object.Keys()...)
		}
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	return codes[:min(len(codes), maxCodes)]
}

func appendTexts(codes []string, terms ...*ast.Term) []string {
	for _, term := range terms {
		if text, ok := term.Value.(ast.String); ok {
			codes = append(codes, string(text))
		}
	}
	return codes
}

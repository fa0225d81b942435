package limits

import "github.com/portcullis-authz/portcullis/policies"

// Judged reports whether a policy may call a built-in, and whether the package has a reason against it.
func Judged(name string) (allowed, refused bool) {
	for _, b := range Capabilities().Builtins {
		allowed = allowed || b.Name == name
	}
	return allowed, WhyRefused("undefined function "+name) != "" && WhyRefused("undefined function "+name) != whyUnknown
}

// Refused returns the built-ins that no policy may call, with the reasons.
func Refused() map[string]string { return refused() }

// Bound is a limit on the text of rules.
type Bound struct {
	Most int
	What string
}

// WrittenBounds returns the limits that an author can meet.
func WrittenBounds() []Bound {
	return []Bound{
		{maxUnfolded, "values to which one literal expands, with the variables in it"},
		{maxRules, "rules of a tree with its tests, each branch of an `else` counted"},
		{maxBody, "expressions of a body, as many imports of a module"},
		{maxChain, "rules that lead to each other in a chain"},
		{maxNesting, "terms or bodies within each other"},
		{maxElse, "branches of `else`, parts of a name, operands of a call, `with` of an expression"},
		{policies.MaxRules >> 20, "MiB of text in all modules (a data file: 32)"},
		{OfQuestion >> 20, "MiB that an evaluation makes, garbage included (a test: 1,024)"},
	}
}

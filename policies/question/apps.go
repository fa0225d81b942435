package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Paths of an app's input that a key does not hold as values.
const (
	factsPath       = "facts" // the time is in it
	assignmentsPath = "facts.assignments"
	rolesPath       = "facts.roles"
	appTimePath     = "facts.now"
)

// AppPlan lists the parts of the input that the rules of an app can read. Only these distinguish its questions.
type AppPlan struct {
	// Entry is the number of the app, a part of the key.
	Entry int
	// Paths are those of the values that are parts of the key, in order.
	Paths []string
	// Held says that the subject's assignments or roles are read.
	Held bool
}

// NewAppPlan returns the plan of an app's rule. It is nil where no answer may be reused. The rules must call
// built-ins by OPA's own names.
func NewAppPlan(c *ast.Compiler, rule string, entry int) *AppPlan {
	paths, ok := Reads(branchesFor(c, rule, anyKind))
	if !ok || slices.ContainsFunc(paths, readsAppTime) {
		return nil
	}
	plan := &AppPlan{Entry: entry}
	for _, path := range paths {
		switch {
		case PartOf(path, assignmentsPath), PartOf(path, rolesPath):
			plan.Held = true
		default:
			plan.Paths = append(plan.Paths, path)
		}
	}
	slices.Sort(plan.Paths)
	plan.Paths = slices.Compact(plan.Paths)
	return plan
}

// Constant reports whether a rule has the same value for every input.
func Constant(c *ast.Compiler, rule string) bool {
	paths, ok := Reads(branchesFor(c, rule, anyKind))
	return ok && len(paths) == 0
}

func readsAppTime(path string) bool {
	return path == "" || path == factsPath || PartOf(path, appTimePath)
}

// Key appends the key of the question's answer. Each part is delimited, so no two questions share a key. The document
// may lack the assignments and roles: their digest comes from the question. Key returns nil if the sent values exceed most
// bytes, and reads no more of them.
func (p *AppPlan) Key(b []byte, document ast.Value, q *resources.Question, most int) []byte {
	k := bytesOfTerms(appendNumber(b, int64(p.Entry)))
	for _, path := range p.Paths {
		switch value := valueAt(document, path); {
		case value == nil:
			k = append(k, '-') // which no value begins with
		case fits(value, &most):
			k.term(value)
		default:
			return nil
		}
	}
	if p.Held {
		return appendHeld(k, q)
	}
	return k
}

// fits takes from room what a key needs for a term at least, and says whether there was enough.
func fits(t *ast.Term, room *int) bool {
	*room--
	switch v := t.Value.(type) {
	case ast.String:
		*room -= len(v)
	case ast.Number:
		*room -= len(v)
	case ast.Object:
		return !v.Until(func(key, value *ast.Term) bool { return !fits(key, room) || !fits(value, room) })
	case *ast.Array:
		return !v.Until(func(t *ast.Term) bool { return !fits(t, room) })
	}
	return *room >= 0
}

// valueAt returns the value at a path, nil for none. A path stands for members of objects only: other values have none.
func valueAt(v ast.Value, path string) (value *ast.Term) {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(ast.Object)
		if !ok {
			return nil
		}
		if value = object.Get(ast.StringTerm(name)); value == nil {
			return nil
		}
		v = value.Value
	}
	return value
}

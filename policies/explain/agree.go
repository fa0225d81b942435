package explain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
)

// check compares the document with the engine's input, which the rules read. The error has all problems.
func (d *Document) check(given ast.Value) error {
	q, rows := d.question(), map[string]*ast.Term{}
	for _, row := range question.Table() {
		rows[row.Path] = question.Value(&q, row.Path)
	}
	rows["subject.roles"] = nil // it may have roles that the subject does not hold
	var problems []string
	var visit func(path string, given ast.Value)
	visit = func(path string, given ast.Value) {
		if made, isRow := rows[path]; isRow {
			if made != nil && !agrees(given, made.Value) {
				problems = append(problems, fmt.Sprintf("%s is %v, and the rest of the document makes it %v: correct one of them, or leave it out", path, given, made))
			}
			return
		}
		members, isObject := given.(ast.Object)
		hasRows := slices.ContainsFunc(slices.Collect(maps.Keys(rows)), func(row string) bool { return path == "" || strings.HasPrefix(row, path+".") })
		if !isObject || !hasRows {
			problems = append(problems, fmt.Sprintf("%q is not a value of the input (policies/schemas/input)", path))
			return
		}
		members.Foreach(func(name, value *ast.Term) {
			text, _ := name.Value.(ast.String)
			visit(strings.TrimPrefix(path+"."+string(text), "."), value.Value)
		})
	}
	visit("", given)
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return errors.New(strings.Join(problems, "; "))
}

// agrees says whether a given value matches the computed one. An object may lack members, and may have further ones that
// are false. A list may have another order.
func agrees(given, made ast.Value) bool {
	switch given := given.(type) {
	case ast.Object:
		made, ok := made.(ast.Object)
		return ok && !given.Until(func(name, value *ast.Term) bool {
			other := made.Get(name)
			if other == nil {
				return value.Value.Compare(ast.Boolean(false)) != 0
			}
			return !agrees(value.Value, other.Value)
		})
	case *ast.Array:
		made, ok := made.(*ast.Array)
		if !ok || made.Len() != given.Len() {
			return false
		}
		rest := make([]*ast.Term, made.Len())
		for i := range rest {
			rest[i] = made.Elem(i)
		}
		return !given.Until(func(element *ast.Term) bool {
			i := slices.IndexFunc(rest, func(other *ast.Term) bool { return agrees(element.Value, other.Value) })
			if i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			}
			return i < 0
		})
	}
	return given.Compare(made) == 0
}

package guards

import (
	"context"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// maxChanged is how many changes are told by their names.
const maxChanged = 20

// change is something that changes and that no comparison can be trusted with: the action or the effect of a row, or data
// that a rule reads and that is no role, row or action.
type change struct {
	at   ast.Ref
	says string
}

// unallowed returns the reasons against the changes that the tree in force does not allow by their names.
func unallowed(ctx context.Context, inForce, next *engine.Set) (reasons []string, err error) {
	changes := rowChanges(inForce.Routes(), next.Routes())
	read, err := dataChanges(ctx, inForce, next)
	if err != nil {
		return nil, err
	}
	changes = append(changes, read...)
	if len(changes) == 0 {
		return nil, nil
	}
	listed, err := inForce.Rule(pkg+"."+mayChange).Value(ctx, input(nil, nil), 0, within)
	if err != nil {
		return nil, fmt.Errorf("%s can't be asked: %w", mayChange, err)
	}
	changes = slices.DeleteFunc(changes, func(c change) bool { return allowed(c.at, listed) })
	for _, c := range changes[:min(len(changes), maxChanged)] {
		reasons = append(reasons, fmt.Sprintf("guards: %s %s, and no comparison tells all that it lets in; a reload before this one has to add `%s` to guards.%s",
			c.at, c.says, c.at, mayChange))
	}
	if more := len(changes) - maxChanged; more > 0 {
		reasons = append(reasons, fmt.Sprintf("guards: %d more values change that guards.%s does not name", more, mayChange))
	}
	return reasons, nil
}

// allowed says whether a name is listed, or one that it is below.
func allowed(at ast.Ref, listed ast.Value) (found bool) {
	names, ok := listed.(ast.Set)
	if !ok {
		return false
	}
	names.Foreach(func(name *ast.Term) {
		text, _ := name.Value.(ast.String)
		ref, err := ast.ParseRef(string(text))
		found = found || err == nil && len(ref) > 1 && at.HasPrefix(ref)
	})
	return found
}

// rowChanges returns the rows that are asked about another action, or have another effect.
func rowChanges(old, fresh []resources.Route) (found []change) {
	for i := range old {
		n := slices.IndexFunc(fresh, func(r resources.Route) bool { return r.Name == old[i].Name })
		if n < 0 {
			continue
		}
		for _, field := range [][3]string{{"action", old[i].Action, fresh[n].Action}, {"effect", old[i].Effect, fresh[n].Effect}} {
			if field[1] != field[2] {
				at := ast.Ref{ast.DefaultRootDocument, ast.StringTerm("routes"), ast.StringTerm(old[i].Name), ast.StringTerm(field[0])}
				found = append(found, change{at, fmt.Sprintf("changes from %q to %q", field[1], field[2])})
			}
		}
	}
	return found
}

// dataChanges returns what changes of the data that rules of either tree read.
func dataChanges(ctx context.Context, old, fresh *engine.Set) (found []change, err error) {
	read := append(dataRead(old), dataRead(fresh)...)
	slices.SortFunc(read, func(a, b ast.Ref) int { return a.Compare(b) })
	for _, at := range slices.CompactFunc(read, func(a, b ast.Ref) bool { return a.Equal(b) }) {
		var values [2]ast.Value
		for i, set := range []*engine.Set{old, fresh} {
			if values[i], err = document(ctx, set, at); err != nil {
				return nil, err
			}
		}
		found = append(found, differences(at, values[0], values[1])...)
	}
	slices.SortFunc(found, func(a, b change) int { return a.at.Compare(b.at) })
	return slices.CompactFunc(found, func(a, b change) bool { return a.at.Equal(b.at) }), nil
}

// dataRead returns where the rules read data, as far as that is written. Rules of apps, of guards and of the decision log
// are left out: a change of what they rest on is told by itself.
func dataRead(set *engine.Set) (found []ast.Ref) {
	for _, module := range set.Compiled().Compiler.Modules {
		if path := module.Package.Path; len(path) > 1 && (named(path[1:], "apps") || named(path[1:], "guards") || named(path[1:], "system", "log")) {
			continue
		}
		ast.WalkRefs(module, func(ref ast.Ref) bool {
			if ref[0].Equal(ast.DefaultRootDocument) {
				end := 1
				for end < len(ref) && isText(ref[end]) {
					end++
				}
				found = append(found, ref[:end])
			}
			return false
		})
	}
	return found
}

func isText(t *ast.Term) bool {
	_, ok := t.Value.(ast.String)
	return ok
}

// named says whether a path begins with these names.
func named(path ast.Ref, names ...string) bool {
	for i, name := range names {
		if i >= len(path) || !path[i].Equal(ast.StringTerm(name)) {
			return false
		}
	}
	return true
}

// document returns what the files of data have at a reference; nil is nothing.
func document(ctx context.Context, set *engine.Set, at ast.Ref) (ast.Value, error) {
	path, err := storage.NewPathForRef(at)
	if err != nil {
		return nil, err
	}
	found, err := storage.ReadOne(ctx, set.Compiled().Store, path)
	switch {
	case storage.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return ast.InterfaceToValue(found)
}

// differences returns the places at and below a reference where two values differ, but for the catalogue's.
func differences(at ast.Ref, old, fresh ast.Value) (found []change) {
	if len(at) > 1 && (named(at[1:], "grants") || named(at[1:], "routes") || named(at[1:], "actions")) {
		return nil
	}
	before, isObject := old.(ast.Object)
	after, areObjects := fresh.(ast.Object)
	switch {
	case isObject && areObjects:
		keys := ast.NewSet(before.Keys()...).Union(ast.NewSet(after.Keys()...))
		keys.Foreach(func(key *ast.Term) {
			found = append(found, differences(at.Append(key), valueAt(before, key), valueAt(after, key))...)
		})
		return found
	case old == nil && fresh == nil || old != nil && fresh != nil && old.Compare(fresh) == 0:
		return nil
	case old == nil:
		return []change{{at, "is new"}}
	case fresh == nil:
		return []change{{at, "is gone"}}
	}
	return []change{{at, "changes"}}
}

func valueAt(o ast.Object, key *ast.Term) ast.Value {
	if found := o.Get(key); found != nil {
		return found.Value
	}
	return nil
}

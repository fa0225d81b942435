package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/resources"
)

// The sets of an app, each a rule. All but types may be missing.
const (
	appTypes     = "types"
	appSubjects  = "subjects"
	appResources = "resources"
	appActions   = "actions"
)

func appSets() []string { return []string{appTypes, appSubjects, appResources, appActions} }

var errUndefined = errors.New("it is undefined")

// setsWithin bounds the evaluation of one set of an app.
const setsWithin = 30 * time.Second

// read evaluates the sets of all apps, once for the tree. The error has a line for each set of another form, and
// for each type of two apps.
func (all *apps) read(ctx context.Context, s *Set) error {
	var problems []error
	for _, a := range all.all {
		problem := func(rule, format string, args ...any) {
			loc := s.tree.Compiler.GetRules(ast.MustParseRef(AppRules(a.Name) + "." + rule))[0].Location
			problems = append(problems, fmt.Errorf("%s:%d: %s %s", loc.File, loc.Row, rule, fmt.Sprintf(format, args...)))
		}
		a.readSets(ctx, s, problem)
		for _, name := range a.Types {
			switch other := all.byType[name]; {
			case resources.NativeType(name):
				problem(appTypes, "claims %q, which is a type of the platform: choose another name", name)
			case other != nil:
				problem(appTypes, "claims %q, which app %s claims too: leave it out of one of them", name, other.Name)
			default:
				all.byType[name] = a
			}
		}
	}
	return errors.Join(problems...)
}

// readSets evaluates the app's sets of types, actions, subjects and resources, and tells what is wrong with them.
func (a *app) readSets(ctx context.Context, s *Set, problem func(rule, format string, args ...any)) {
	values := map[string]ast.Set{}
	for _, name := range appSets() {
		rule := AppRules(a.Name) + "." + name
		if len(s.tree.Compiler.GetRules(ast.MustParseRef(rule))) == 0 {
			continue
		}
		if !a.constant[name] {
			problem(name, "reads the input, the time or chance: it must be the same for every question")
			continue
		}
		value, err := s.value(ctx, evaluation{name: rule, limit: setsWithin, memory: limits.OfTest})
		if err == nil && value == nil {
			err = errUndefined
		}
		if err != nil {
			problem(name, "has no value: %v", err)
			continue
		}
		set, ok := value.(ast.Set)
		if !ok {
			problem(name, "must be a set, not %s", ast.ValueName(value))
			continue
		}
		values[name] = set
	}
	if set := values[appTypes]; set != nil {
		if a.Types = names(set, textOf); len(a.Types) == 0 {
			problem(appTypes, "must be a set of one or more strings, none of them empty")
		}
	}
	if set := values[appActions]; set != nil {
		if a.Actions = names(set, nameOfAction); a.Actions == nil {
			problem(appActions, `must be a set of {"name": string}`)
		}
	}
	for name, entry := range map[string]*[]resources.Entity{appSubjects: &a.Subjects, appResources: &a.Resources} {
		if set := values[name]; set != nil {
			if *entry = entities(set); *entry == nil {
				problem(name, `must be a set of {"type": string, "id": string}, none of them empty`)
			}
		}
	}
	for _, entity := range a.Resources {
		if !slices.Contains(a.Types, entity.Type) {
			problem(appResources, "has %q of type %q, which is none of the app's types", entity.ID, entity.Type)
			return
		}
	}
}

// names returns what is named by the members of a set, in order; nil where one names nothing.
func names(set ast.Set, name func(*ast.Term) (string, bool)) []string {
	out := make([]string, 0, set.Len())
	for _, member := range set.Slice() {
		text, ok := name(member)
		if !ok {
			return nil
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func nameOfAction(t *ast.Term) (string, bool) {
	o, ok := t.Value.(ast.Object)
	if !ok || o.Len() != 1 {
		return "", false
	}
	return textAt(o, "name")
}

// entities returns the members of a set in order; nil for a set with another member than entities.
func entities(set ast.Set) []resources.Entity {
	out := make([]resources.Entity, 0, set.Len())
	for _, member := range set.Slice() {
		o, ok := member.Value.(ast.Object)
		if !ok || o.Len() != 2 {
			return nil
		}
		kind, typed := textAt(o, "type")
		id, named := textAt(o, "id")
		if !typed || !named {
			return nil
		}
		out = append(out, resources.Entity{Type: kind, ID: id})
	}
	slices.SortFunc(out, func(a, b resources.Entity) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	return out
}

func textAt(o ast.Object, name string) (string, bool) {
	text, ok := valueAt[ast.String](o, name)
	return string(text), ok && text != ""
}

// textOf returns a text; false for any other value, and for an empty one.
func textOf(t *ast.Term) (string, bool) {
	s, ok := t.Value.(ast.String)
	return string(s), ok && s != ""
}

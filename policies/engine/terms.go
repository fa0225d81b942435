package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// words are the keys of inputs and answers, and the values of which there are few. Nearly every input has them: their terms
// are made once, which spares an input a third of its allocations.
var words = sync.OnceValue(func() map[string]*ast.Term {
	all := map[string]*ast.Term{}
	for word := range strings.FieldsSeq(`
		access account action allow assignments code credential custom effect exists expires grant here id key_scopes kind level
		member name now patterns permissions principal project project_state reason resource rest role role_scope role_status roles
		route running scope scopes status subject target until user uuid verb
		ACCOUNT ACTIVE PROJECT RESOURCE *:*:* absent active deleting key list none read service token write`) {
		all[word] = ast.StringTerm(word)
	}
	return all
})

// term returns a string as a term.
func term(s string) *ast.Term {
	if known := words()[s]; known != nil {
		return known
	}
	return ast.InternedTerm(s)
}

// field returns a member of an object.
func field(name string, value *ast.Term) [2]*ast.Term { return [2]*ast.Term{term(name), value} }

// text returns a member whose value is a string.
func text(name, value string) [2]*ast.Term { return field(name, term(value)) }

// flag returns a member whose value is a boolean.
func flag(name string, value bool) [2]*ast.Term { return field(name, ast.InternedTerm(value)) }

// end returns a member whose value is the time when something ends; zero is never.
func end(name string, t resources.Time) [2]*ast.Term { return field(name, millis(reuse.EndOf(t))) }

func millis(t resources.Time) *ast.Term {
	return ast.NewTerm(ast.Number(strconv.FormatInt(int64(t), 10)))
}

// set returns {"a": true, …}: the form of everything that a policy looks up. Members
// given twice are one member; ast.NewObject would keep both.
func set(members []string) *ast.Term {
	items := make([][2]*ast.Term, 0, len(members))
	for _, m := range sorted(members) {
		items = append(items, flag(m, true))
	}
	return objectOf(items)
}

// list returns ["a", …], the form of what a policy goes through.
func list(members []string) *ast.Term {
	terms, items := make([]ast.Term, len(members)), make([]*ast.Term, len(members))
	for i, m := range members {
		terms[i].Value, items[i] = ast.String(m), &terms[i]
	}
	return ast.ArrayTerm(items...)
}

// sorted has each member once.
func sorted(members []string) []string {
	members = slices.Clone(members)
	slices.Sort(members)
	return slices.Compact(members)
}

// object returns a map in the input's form.
func object[V any](m map[string]V, value func(V) *ast.Term) *ast.Term {
	items := make([][2]*ast.Term, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		items = append(items, field(key, value(m[key])))
	}
	return objectOf(items)
}

func objectOf(items [][2]*ast.Term) *ast.Term {
	if len(items) == 0 {
		return ast.InternedEmptyObject
	}
	return ast.ObjectTerm(items...)
}

// settle sorts the keys of every object in v. OPA does so when they are first read
// in order; a value that many goroutines share is sorted before they see it, because some
// of OPA's methods read the keys without the guard that sorting has.
func settle(v ast.Value) {
	switch v := v.(type) {
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) { settle(key.Value); settle(value.Value) })
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { settle(t.Value) })
	case ast.Set:
		v.Foreach(func(t *ast.Term) { settle(t.Value) })
	}
}

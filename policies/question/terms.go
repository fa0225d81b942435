package question

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// interned has the terms of the words in nearly every input: keys, and values of columns. An input made of them needs a
// third fewer allocations.
var interned = sync.OnceValue(func() map[string]*ast.Term {
	all := map[string]*ast.Term{}
	for word := range strings.FieldsSeq(`
		about access account action agent assignments clock credential custom delegation_covers effect exists expires grant here hour id is_caller
		key_scopes kind level member name named now outlasts_grant patterns permissions principal project project_state resource
		rest role role_scope role_status roles route running same_account scope scopes status subject target until user uuid
		verb weekday
		ACCOUNT ACTIVE PROJECT RESOURCE *:*:* absent active caller deleting key list none other read service token write`) {
		all[word] = ast.StringTerm(word)
	}
	return all
})

func term(s string) *ast.Term {
	if t := interned()[s]; t != nil {
		return t
	}
	return ast.InternedTerm(s)
}

// field returns a member of an object.
func field(name string, value *ast.Term) [2]*ast.Term { return [2]*ast.Term{term(name), value} }

func integer(n int64) *ast.Term { return ast.NewTerm(ast.Number(strconv.FormatInt(n, 10))) }

// set returns {"a": true, …}: the form of everything that a policy looks up. Members
// given twice are one member; ast.NewObject would keep both.
func set(members []string) *ast.Term {
	items := make([][2]*ast.Term, 0, len(members))
	for _, m := range sorted(members) {
		items = append(items, field(m, ast.InternedTerm(true)))
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

package builtins

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unfolded is a value as rules have written it. What comes from data, from the input or from a built-in is there already,
// and is one value.
type unfolded struct {
	// size is how many values it unfolds to; open of these are what was there already.
	id, size, open int
	// members are by their keys, others what stands at keys that are not known before.
	members map[string]*unfolded
	others  []*unfolded
	// anyOf are the forms that it can have, where there are several.
	anyOf []*unfolded
	// each stands for any one of members and others; nil until somebody asks.
	each *unfolded
}

// term returns the value of a term.
func (u *unfolding) term(s *scope, t *ast.Term) *unfolded {
	if u.err != nil {
		return u.leaf
	}
	switch v := t.Value.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String:
		return u.scalar
	case ast.Var:
		if value := s.get(v); value != nil {
			return value
		}
	case ast.Ref:
		return u.ref(s, v)
	case *ast.Array:
		members := make(map[string]*unfolded, v.Len())
		for i := range v.Len() {
			members[strconv.Itoa(i)] = u.term(s, v.Elem(i))
		}
		return u.made(members, nil)
	case ast.Object:
		members, others := make(map[string]*unfolded, v.Len()), []*unfolded(nil)
		v.Foreach(func(key, value *ast.Term) {
			if ast.IsConstant(key.Value) {
				members[key.Value.String()] = u.term(s, value)
			} else {
				others = append(others, u.term(s, key), u.term(s, value))
			}
		})
		return u.made(members, others)
	case ast.Set:
		others := make([]*unfolded, 0, v.Len())
		v.Foreach(func(member *ast.Term) { others = append(others, u.term(s, member)) })
		return u.made(nil, others)
	case *ast.ArrayComprehension:
		return u.comprehension(s, v.Body, v.Term)
	case *ast.SetComprehension:
		return u.comprehension(s, v.Body, v.Term)
	case *ast.ObjectComprehension:
		return u.comprehension(s, v.Body, v.Key, v.Value)
	}
	return u.leaf
}

// comprehension returns the value of one with one element.
func (u *unfolding) comprehension(s *scope, body ast.Body, each ...*ast.Term) *unfolded {
	inside := s.within()
	u.body(inside, body)
	others := make([]*unfolded, 0, len(each))
	for _, t := range each {
		others = append(others, u.term(inside, t))
	}
	return u.made(nil, others)
}

// ref returns what stands at a reference.
func (u *unfolding) ref(s *scope, ref ast.Ref) *unfolded {
	rest := ref[1:]
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		return u.grown(u.leaf)
	case !ref[0].Equal(ast.DefaultRootDocument):
		return u.within(u.term(s, ref[0]), rest)
	}
	node := u.root.Child(ref[0].Value)
	for node != nil && len(node.Values) == 0 && len(rest) > 0 && ast.IsConstant(rest[0].Value) {
		node, rest = node.Child(rest[0].Value), rest[1:]
	}
	if node == nil {
		return u.grown(u.leaf)
	}
	return u.grown(u.within(u.document(node), rest))
}

// grown returns a value in which anything that is there already may be what a `with` puts there.
func (u *unfolding) grown(value *unfolded) *unfolded {
	if u.factor == 1 || value.open == 0 {
		return value
	}
	size := value.size - value.open + value.open*u.factor
	if size > maxUnfolded {
		u.tooLarge()
		return u.leaf
	}
	grown := u.one("of "+strconv.Itoa(size), &unfolded{size: size, open: size})
	grown.others = []*unfolded{grown}
	return grown
}

// within returns the part of a value at a path.
func (u *unfolding) within(value *unfolded, path ast.Ref) *unfolded {
	for _, part := range path {
		if ast.IsConstant(part.Value) {
			value = u.member(value, part.Value)
		} else {
			value = u.member(value, nil)
		}
	}
	return value
}

// member returns what stands at a key, any of what there is where the key is nil.
func (u *unfolding) member(of *unfolded, key ast.Value) *unfolded {
	if key != nil {
		var found []*unfolded
		for _, form := range of.anyOf {
			found = append(found, u.member(form, key))
		}
		if at := of.members[key.String()]; at != nil {
			found = append(found, at)
		}
		return u.either(append(found, of.others...))
	}
	if of.each == nil {
		found := slices.Clone(of.others)
		for _, name := range slices.Sorted(maps.Keys(of.members)) {
			found = append(found, of.members[name])
		}
		for _, form := range of.anyOf {
			found = append(found, u.member(form, nil))
		}
		of.each = u.either(found)
	}
	return of.each
}

// bind gives the variables of a pattern that have no value yet what stands at their places.
func (u *unfolding) bind(s *scope, pattern *ast.Term, value *unfolded) {
	switch v := pattern.Value.(type) {
	case ast.Var:
		if s.get(v) == nil {
			s.own[v] = value
		}
	case *ast.Array:
		for i := range v.Len() {
			u.bind(s, v.Elem(i), u.member(value, ast.Number(strconv.Itoa(i))))
		}
	case ast.Object:
		v.Foreach(func(key, at *ast.Term) { u.bind(s, at, u.member(value, key.Value)) })
	}
}

// made returns the value that holds these. One that unfolds to too much is told.
func (u *unfolding) made(members map[string]*unfolded, others []*unfolded) *unfolded {
	var name strings.Builder
	size, open := 1, 0
	add := func(key string, of *unfolded) {
		name.WriteString(key + " " + strconv.Itoa(of.id) + ",")
		size, open = min(size+of.size, maxUnfolded+1), min(open+of.open, maxUnfolded)
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		add(key, members[key])
	}
	for _, of := range others {
		add("", of)
	}
	if size > maxUnfolded {
		u.tooLarge()
		return u.leaf
	}
	return u.one(name.String(), &unfolded{size: size, open: open, members: members, others: others})
}

func (u *unfolding) tooLarge() {
	u.problem("a literal unfolds to more than %d values, since what its variables stand for is written out each time: "+
		"nest fewer of them, or put what is data into a data.json", maxUnfolded)
}

// either returns what can be one of several values, of which equal ones are one.
func (u *unfolding) either(forms []*unfolded) *unfolded {
	forms = slices.Clone(forms)
	slices.SortFunc(forms, func(a, b *unfolded) int { return a.id - b.id })
	switch forms = slices.Compact(forms); len(forms) {
	case 0:
		return u.leaf
	case 1:
		return forms[0]
	}
	var name strings.Builder
	size, open := 0, 0
	for _, form := range forms {
		name.WriteString("|" + strconv.Itoa(form.id))
		size, open = min(size+form.size, maxUnfolded), min(open+form.open, maxUnfolded)
	}
	return u.one(name.String(), &unfolded{size: size, open: open, anyOf: forms})
}

// one returns the value of that name.
func (u *unfolding) one(name string, value *unfolded) *unfolded {
	if u.known[name] == nil {
		value.id = len(u.known) + 1
		u.known[name] = value
	}
	return u.known[name]
}

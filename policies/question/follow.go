package question

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// visit goes through one branch of a rule.
func (f *follower) visit(rule *ast.Rule) {
	f.rule, f.at, f.bound = rule, rule.Location, map[ast.Var]bool{}
	if f.vars[rule] == nil {
		f.vars[rule] = map[ast.Var]*flow{}
	}
	name := nameOfRule(rule)
	for i, arg := range rule.Head.Args {
		f.bind(arg, f.param(name, i))
	}
	f.body(rule.Body)
	f.at = rule.Location
	head, several := f.head(name), len(f.compiler.GetRulesExact(rule.Ref().GroundPrefix())) > 1
	for _, t := range append(slices.Clone(rule.Ref()[len(rule.Ref().GroundPrefix()):]), rule.Head.Key, rule.Head.Value) {
		if t == nil {
			continue
		}
		of := f.term(t)
		if several && rule.Head.DocKind() != ast.PartialSetDoc && len(of.texts())+len(head.texts()) > 0 {
			f.compare(of, head) // two values of one rule must be equal
		}
		f.changed = head.add(of) || f.changed
	}
}

// nameOfRule returns the name of a rule without what its head adds for one element.
func nameOfRule(rule *ast.Rule) string { return rule.Ref().GroundPrefix().String() }

func (f *follower) head(name string) *flow {
	if f.heads[name] == nil {
		f.heads[name] = newFlow()
	}
	return f.heads[name]
}

func (f *follower) param(name string, i int) *flow {
	for len(f.params[name]) <= i {
		f.params[name] = append(f.params[name], newFlow())
	}
	return f.params[name][i]
}

func (f *follower) variable(v ast.Var) *flow {
	if f.vars[f.rule][v] == nil {
		f.vars[f.rule][v] = newFlow()
	}
	return f.vars[f.rule][v]
}

func (f *follower) body(body ast.Body) {
	for _, e := range body {
		f.at = e.Location
		if f.at == nil || f.at.File == "" {
			f.at = f.rule.Location
		}
		if len(e.With) > 0 {
			f.other("", "a `with` gives rules another input")
		}
		switch terms := e.Terms.(type) {
		case *ast.Term:
			f.term(terms)
		case *ast.Every:
			domain := f.term(terms.Domain)
			if terms.Key != nil {
				f.bind(terms.Key, f.members(domain, terms.Key))
			}
			f.bind(terms.Value, f.members(domain, ast.VarTerm("_every")))
			f.body(terms.Body)
		case []*ast.Term:
			f.call(terms)
		default:
			f.other("", "a form of Rego that is not followed")
		}
	}
}

// bind has a term be a value: its variables that have no value yet get it, all else is compared.
func (f *follower) bind(t *ast.Term, of *flow) {
	switch v := t.Value.(type) {
	case ast.Var:
		if !f.bound[v] && !isInput(v) {
			f.bound[v] = true
			f.changed = f.variable(v).add(of) || f.changed
			return
		}
	case *ast.Array:
		if !v.IsGround() {
			for i := range v.Len() {
				f.bind(v.Elem(i), f.element(of, i, v.Len()))
			}
			return
		}
	case ast.Object:
		if !v.IsGround() {
			v.Foreach(func(key, value *ast.Term) { f.bind(value, f.members(of, key)) })
			return
		}
	}
	f.compare(f.term(t), of)
}

// element returns what may stand at a place of arrays of a length.
func (f *follower) element(of *flow, i, size int) *flow {
	out := newFlow()
	if len(of.items) == size {
		out.add(of.items[i])
	}
	rest := newFlow()
	rest.merge(of)
	clear(rest.documents)
	out.merge(rest)
	for _, document := range of.documents {
		ast.WalkTerms(ast.NewTerm(document), func(t *ast.Term) bool {
			if array, ok := t.Value.(*ast.Array); ok && array.Len() == size {
				out.document(array.Elem(i).Value)
			}
			return false
		})
	}
	return out
}

// unify has two terms be equal.
func (f *follower) unify(a, b *ast.Term) {
	if f.binds(b) && !f.binds(a) {
		a, b = b, a
	}
	f.bind(a, f.term(b))
}

// binds says whether a term has a variable without a value.
func (f *follower) binds(t *ast.Term) bool {
	switch v := t.Value.(type) {
	case ast.Var:
		return !f.bound[v] && !isInput(v)
	case *ast.Array:
		return v.Until(f.binds)
	case ast.Object:
		return v.Until(func(_, value *ast.Term) bool { return f.binds(value) })
	}
	return false
}

// term returns what a term may be.
func (f *follower) term(t *ast.Term) *flow {
	switch v := t.Value.(type) {
	case ast.Boolean, ast.Null:
		return newFlow()
	case ast.String, ast.Number:
		return constant(v)
	case ast.Var:
		if isInput(v) {
			return f.whole("")
		}
		return f.variable(v)
	case ast.Ref:
		return f.ref(v)
	case *ast.ArrayComprehension:
		f.body(v.Body)
		f.ordered(v)
		return f.term(v.Term)
	case *ast.SetComprehension:
		f.body(v.Body)
		return f.term(v.Term)
	case *ast.ObjectComprehension:
		f.body(v.Body)
		if key := f.term(v.Key); len(key.texts()) > 0 {
			f.compare(key, key) // equal keys must have equal values
		}
		return f.together(v.Key, v.Value)
	case ast.Call:
		return f.result(v)
	case *ast.Array:
		if v.IsGround() {
			return constant(v)
		}
		out := newFlow()
		v.Foreach(func(t *ast.Term) {
			item := newFlow()
			item.add(f.term(t))
			out.items = append(out.items, item)
		})
		return out
	case ast.Set:
		if v.IsGround() {
			return constant(v)
		}
		return f.together(v.Slice()...)
	case ast.Object:
		if v.IsGround() {
			return constant(v)
		}
		return f.object(v)
	}
	f.other("", "a form of Rego that is not followed")
	return newFlow()
}

// ordered takes down the texts that may decide the order of a list: the elements of sets and the names of objects are gone
// through in order.
func (f *follower) ordered(list *ast.ArrayComprehension) {
	if list.Term.IsGround() { // all elements are equal
		return
	}
	note := func(of *flow) {
		for path := range of.texts() {
			f.other(path, "a part of what a list is made of")
		}
	}
	ast.WalkTerms(list, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			note(f.variable(v))
		case ast.Ref:
			if isInput(v[0].Value) {
				of, _ := f.input(v)
				note(of)
			} else if v[0].Equal(ast.DefaultRootDocument) {
				of, _ := f.data(v)
				note(of)
			}
		}
		return false
	})
}

// object returns an object, with its members where their names are constant.
func (f *follower) object(o ast.Object) *flow {
	out, names := newFlow(), newFlow()
	out.fields = map[string]*flow{}
	o.Foreach(func(key, value *ast.Term) {
		of := newFlow()
		of.add(f.term(value))
		if name, isName := key.Value.(ast.String); isName {
			out.fields[string(name)] = of
			return
		}
		o.Foreach(func(other, _ *ast.Term) {
			if other != key { // equal names override each other
				f.compare(f.term(key), f.term(other))
			}
		})
		names.merge(f.term(key).all())
		names.merge(of.all())
	})
	out.merge(names)
	return out
}

// together returns what each of some terms may be, as one.
func (f *follower) together(terms ...*ast.Term) *flow {
	out := newFlow()
	for _, t := range terms {
		of := f.term(t)
		if len(terms) == 1 {
			out.add(of)
			continue
		}
		out.merge(of.all())
	}
	return out
}

// ref returns what stands at a reference.
func (f *follower) ref(ref ast.Ref) *flow {
	var of *flow
	rest := ref[1:]
	switch head, isVar := ref[0].Value.(ast.Var); {
	case isInput(ref[0].Value):
		of, rest = f.input(ref)
	case isVar && ref[0].Equal(ast.DefaultRootDocument):
		of, rest = f.data(ref)
	case isVar:
		of = f.variable(head)
	default:
		of = f.term(ref[0])
	}
	for _, key := range rest {
		of = f.step(of, key)
	}
	return of
}

// step returns what stands below a value.
func (f *follower) step(of *flow, key *ast.Term) *flow {
	name, isName := key.Value.(ast.String)
	switch {
	case !of.labels[here]:
		return f.members(of, key)
	case isName:
		return assignmentMember(string(name))
	case ast.IsConstant(key.Value) || !f.binds(key):
		f.other(index, "")
		return of
	}
	f.bind(key, labelled(index))
	return of
}

// assignmentMember returns what stands at a member of an assignment.
func assignmentMember(name string) *flow {
	words := func(values []string) *flow {
		of := newFlow()
		for _, value := range values {
			of.document(ast.String(value))
		}
		return of
	}
	switch name {
	case "role":
		return labelled(HereRole)
	case "permissions":
		return labelled(HerePermissions)
	case "level", "role_scope":
		return words(roleScopes())
	case "status", "role_status":
		return words(roleStatuses())
	}
	return newFlow()
}

// input returns the row that a reference reads, with the rest of the reference.
func (f *follower) input(ref ast.Ref) (*flow, ast.Ref) {
	path := ""
	for i, key := range ref[1:] {
		name, isName := key.Value.(ast.String)
		if !isName {
			break
		}
		path = strings.TrimPrefix(path+"."+string(name), ".")
		for _, row := range table() {
			if row.Path == path {
				return row.flow(), ref[i+2:]
			}
		}
	}
	return f.whole(path), ref[len(ref):]
}

// flow returns what the value of a row may be.
func (r *Row) flow() *flow {
	if r.Path == here || r.Kind != Column {
		return labelled(r.Path)
	}
	of := newFlow()
	for _, value := range r.Values {
		of.document(ast.String(value))
	}
	of.unknown = r.Type == "integer"
	return of
}

// whole takes down that a part of the input is read as one value, or by a name that is not constant.
func (f *follower) whole(path string) *flow {
	of := newFlow()
	of.unknown = true
	for _, row := range table() {
		if row.Kind != Column && within(row.Path, path) {
			f.other(row.Path, "taken as a part of "+nameOfPath(path))
			of.made[row.Path] = true
		}
	}
	return of
}

// data returns what stands at a reference into data: the value of a rule, or documents of the tree.
func (f *follower) data(ref ast.Ref) (*flow, ast.Ref) {
	prefix := ref.ConstantPrefix()
	for i := 2; i <= len(prefix); i++ {
		if len(f.compiler.GetRulesExact(prefix[:i])) > 0 {
			return f.head(prefix[:i].String()), ref[i:]
		}
	}
	if len(f.compiler.GetRulesWithPrefix(prefix)) > 0 {
		f.other("", "takes "+prefix.String()+" whole, and rules give parts of it")
	}
	value, err := f.read(prefix)
	if err != nil {
		f.err = err
	}
	out := newFlow()
	if value != nil {
		out.document(value)
	}
	return out, ref[len(prefix):]
}

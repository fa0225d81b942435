package compare

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// ref returns the value of a reference.
func (c *expression) ref(ref ast.Ref) *value {
	head, isVar := ref[0].Value.(ast.Var)
	switch {
	case isVar && head.Equal(ast.InputRootDocument.Value):
		return c.inputRef(ref)
	case isVar && head.Equal(ast.DefaultRootDocument.Value):
		return c.dataRef(ref)
	}
	return c.descend(c.term(ref[0]), ref[1:])
}

// inputRef returns the value of a reference into the input.
func (c *expression) inputRef(ref ast.Ref) *value {
	path := ""
	for i, t := range ref[1:] {
		name, isText := t.Value.(ast.String)
		if !isText || i == 2 {
			return c.wholeInput(path)
		}
		path = strings.TrimPrefix(path+"."+string(name), ".")
		for _, row := range question.Table() {
			if row.Path == path {
				return c.descend(c.inputRow(&row), ref[i+2:])
			}
		}
	}
	if slices.ContainsFunc(question.Table(), func(row question.Row) bool { return strings.HasPrefix(row.Path, path+".") }) {
		return c.wholeInput(path)
	}
	return &value{} // no question has such a member
}

// inputRow returns the value of one row of the input table.
func (c *expression) inputRow(inputRow *question.Row) *value {
	switch inputRow.Path {
	case "subject.here":
		return &value{shape: assignments}
	case "principal.scopes", "grant.permissions", "action.patterns", "route.access":
		return &value{shape: members, paths: []string{inputRow.Path}}
	case "action.scope":
		return words([]string{"", resources.ScopeAccount, resources.ScopeProject, resources.ScopeResource})
	case "route.name":
		c.compared.add(inputRow.Path, nil) // the comparison asks about each route by its name
		return &value{made: true}
	case "clock.hour", "clock.weekday", "subject.assignments", "subject.roles", "principal.uuid", "principal.account":
		c.gap(inputRow.Path, "all its values")
		return &value{shape: unknown}
	}
	switch {
	case inputRow.Type == "boolean":
		return truth()
	case inputRow.Kind == question.Column:
		return words(append([]string{""}, inputRow.Values...))
	}
	return openAt(inputRow.Path)
}

// dataRef returns the value of a reference into data: of a rule, or of a document.
func (c *expression) dataRef(ref ast.Ref) *value {
	prefix := ref.ConstantPrefix()
	for i := 2; i <= len(prefix); i++ {
		rules := c.rules.compiler.GetRulesExact(prefix[:i])
		if len(rules) == 0 {
			continue
		}
		if len(rules[0].Head.Args) > 0 {
			return &value{shape: unknown}
		}
		return c.ofRule(prefix[:i], ref[i:])
	}
	if members := c.members(prefix); members != nil {
		return c.descend(members, ref[len(prefix):])
	}
	if len(c.rules.compiler.GetRules(prefix)) > 0 || len(prefix) < 2 {
		c.gap(prefix.String(), "what rules by such names give")
		return &value{shape: unknown}
	}
	if prefix[1].Equal(ast.StringTerm("grants")) {
		if len(prefix) == 2 && len(ref) > 2 && !c.unbound(ref[2]) && c.term(ref[2]).isAt("subject.here.role") {
			return c.descend(&value{shape: systemRole}, ref[3:])
		}
		c.opaque = false
	}
	document, err := c.rules.documentValue(c.ctx, prefix)
	if err != nil && c.err == nil {
		c.err = err
	}
	if document == nil {
		return &value{}
	}
	return c.descend(constant(document), ref[len(prefix):])
}

// members joins the rules with constant names below a reference. It returns nil for any others, and for values that are
// not plain.
func (c *expression) members(prefix ast.Ref) *value {
	var all *value
	for _, rule := range c.rules.compiler.GetRulesWithPrefix(prefix) {
		ref := rule.Ref()
		if len(ref) != len(prefix)+1 || !ref.IsGround() || len(rule.Head.Args) > 0 {
			return nil
		}
		r := c.followRule(ref)
		if !r.value.isPlain() || r.defined != (needs{}) {
			return nil
		}
		all = join(join(all, constant(ref[len(prefix)].Value)), r.value)
	}
	return all
}

// ofRule returns the value of a rule, or of a member of it. A body counts the needs of a rule once, even if it refers
// to the rule twice.
func (c *expression) ofRule(ref, rest ast.Ref) *value {
	r := c.followRule(ref)
	n := r.defined
	if len(rest) == 1 && rest[0].Equal(ast.StringTerm("allow")) && r.value.shape == object {
		n, rest = r.allows, nil
		r = &result{value: truth()}
	}
	if key := ref.String() + rest.String(); !c.scope.counted[key] {
		c.scope.counted[key] = true
		c.needs = c.needs.and(n)
	}
	return c.descend(r.value, rest)
}

// descend returns the member of a value under a path of keys.
func (c *expression) descend(v *value, keys ast.Ref) *value {
	for _, key := range keys {
		v = c.member(v, key)
	}
	return v
}

// member returns the member of a value under a key.
func (c *expression) member(v *value, key *ast.Term) *value {
	name, isVar := key.Value.(ast.Var)
	isFree := isVar && c.scope.vars[name] == nil
	if isFree {
		return c.iterate(v, name)
	}
	switch v.shape {
	case plain:
		return c.lookUp(v, key)
	case members:
		return c.hasMember(v, c.term(key))
	case assignment, systemRole:
		return c.field(v, key)
	case elements:
		return c.setMember(v, key)
	}
	if v.isPlain() {
		return c.lookUp(v.flat(), key)
	}
	return c.gapOf("what stands there under a name", v, c.term(key))
}

// setMember returns the element of a set that equals a key. Variables of the key are bound to any element.
func (c *expression) setMember(v *value, key *ast.Term) *value {
	c.needs = c.needs.and(v.needs)
	if !c.unbound(key) {
		is := c.term(key)
		for _, item := range v.items {
			if !is.isAt("generalisation") || !item.isAt("permission") {
				c.compare(is, item)
			}
		}
		return is
	}
	c.scope.iterates = c.scope.iterates || !v.isPlain()
	out := joined(v.items)
	c.bind(key, out)
	return out
}

// iterate returns the members of a value under any key, and binds the variable to the keys.
func (c *expression) iterate(v *value, key ast.Var) *value {
	bind := func(keys *value) { c.scope.vars[key] = keys }
	c.scope.iterates = c.scope.iterates || !v.isPlain()
	switch v.shape {
	case plain:
		bind(v)
		return v
	case members:
		switch v.paths[0] {
		case "action.patterns":
			bind(&value{shape: unknown})
			return openAt(v.paths...)
		case "route.access":
			bind(&value{made: true})
			return truth()
		case "grant.permissions":
			c.search()
		}
		bind(openAt(v.paths...))
		return truth()
	case assignments:
		bind(&value{shape: unknown})
		c.holdingLoops = append(c.holdingLoops, c.location)
		c.loops++
		c.needs = c.needs.and(needs{held: count{yes: 1}})
		return &value{shape: assignment}
	case elements:
		c.needs = c.needs.and(v.needs)
		if v.needs.held != (count{}) {
			c.loops++
		}
		out := joined(v.items)
		bind(out)
		return out
	}
	if v.isPlain() {
		bind(v.flat())
		return v.flat()
	}
	bind(&value{shape: unknown})
	return c.gapOf("each of them", v)
}

// lookUp returns the members of a plain value under a key. An open key is compared with all constants of the value.
func (c *expression) lookUp(v *value, key *ast.Term) *value {
	if c.unbound(key) {
		c.bind(key, v)
		return v
	}
	switch index := c.term(key); {
	case index.isPlain():
	case index.shape == open:
		c.noteConstants(v, index)
	default:
		c.gapOf("what is looked up by it", index)
	}
	return v
}

// hasMember returns whether a part of the input has a member with this name.
func (c *expression) hasMember(v, key *value) *value {
	switch path := v.paths[0]; {
	case len(v.paths) > 1:
		return c.gapOf("a member", v)
	case path == "route.access" && (key.isPlain() || key.isAt("service word")), path == "principal.scopes" && key.isAt(path), path == "grant.permissions" && key.isAt(path):
		return truth()
	case path == "permission":
		if !c.negated && (key.isAt("action.patterns") || key.isAt("action.id")) {
			return truth()
		}
	case path == "principal.scopes" && key.isPlain():
		c.noteConstants(key, openAt("named scope"))
		return truth()
	case path == "grant.permissions" && key.isOne():
		c.search()
		c.noteConstants(key, openAt(path))
		return truth()
	}
	return c.gapOf("whether it has a name", v, key)
}

// search notes a search of the permissions to grant. The comparison grants the empty set, single permissions, and the
// sets of system roles. They suffice if rules search once, in the body of a rule without parameters, and otherwise only
// ask whether there is a permission: the answer to a larger set is then the answer to one of its permissions.
func (c *expression) search() {
	c.searches, c.scope.searches = append(c.searches, c.location), true
	c.needs = c.needs.and(needs{granted: count{yes: 1}})
	if !c.scope.ofRule {
		c.gap("grant.permissions", "what is searched for each of some values")
	}
}

// field returns a member of an assignment or of a system role.
func (c *expression) field(v *value, key *ast.Term) *value {
	name, _ := key.Value.(ast.String)
	switch name {
	case "scope":
		if v.shape == systemRole {
			return words([]string{resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource})
		}
	case "permissions":
		return &value{shape: members, paths: []string{"permission"}}
	case "role":
		if v.shape == assignment {
			return openAt("subject.here.role")
		}
	case "level", "role_scope":
		return words([]string{"", resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource})
	case "role_status", "status":
		return words([]string{"", resources.StatusActive, resources.StatusInactive})
	case "custom", "running", "outlasts_grant":
		return truth()
	}
	return c.gapOf("a member of it", v)
}

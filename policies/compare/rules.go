package compare

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
)

// group is all definitions of one rule in one tree. It has one value for one input.
type group struct {
	name  string
	reads []bool // by row of the input: itself, and through functions that it calls
	deps  []*group
	// inputRows are the parts of the input that the group and its dependencies read.
	inputRows   []*question.Row
	definitions []*ast.Rule // and the functions that they call
	// print is the fingerprint of what the group computes: of its text, its data and its dependencies.
	print string
	// ownPrint is the fingerprint of the group's text and data, with the names of its dependencies. ungrantedPrint is
	// the same without data.grants. location is the place of its first rule.
	ownPrint, ungrantedPrint string
	location                 *ast.Location
	// constants are, for a row that the group only compares with constants, those constants. All other values of the
	// row count as one.
	constants map[int]map[string]bool
	// element is the definition if the group is one definition of a partial set. union says that the group is the whole
	// partial set.
	element *ast.Rule
	union   bool
	rule    engine.Rule
}

// rules are the groups of one tree that its roots depend on.
type rules struct {
	set      *engine.Set
	compiler *ast.Compiler
	txn      storage.Transaction
	groups   map[string]*group
	// reached are the rules and functions of all groups, ordered by location. A function of two groups is there twice.
	reached []*ast.Rule
	// documents are the fingerprints of documents, by reference.
	documents map[string]string
	// prefix, if not empty, limits documents to those below it.
	prefix string
}

// newRules reads the rules of a tree that its roots depend on. The caller must close the result.
func newRules(ctx context.Context, set *engine.Set) (_ *rules, err error) {
	r, err := openRules(ctx, set)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.close(ctx)
		}
	}()
	for _, root := range roots() {
		if _, err := r.group(ctx, root.rule); err != nil {
			return nil, err
		}
	}
	for _, g := range r.groups {
		r.reached = append(r.reached, g.definitions...)
	}
	slices.SortFunc(r.reached, func(a, b *ast.Rule) int { return a.Location.Compare(b.Location) })
	return r, nil
}

// openRules opens a read transaction on the documents of a tree. The caller must close the result.
func openRules(ctx context.Context, set *engine.Set) (*rules, error) {
	compiled := set.Compiled()
	txn, err := compiled.Store.NewTransaction(ctx)
	return &rules{set: set, compiler: compiled.Compiler, txn: txn, groups: map[string]*group{}, documents: map[string]string{}}, err
}

// close ends the transaction. The groups stay valid.
func (r *rules) close(ctx context.Context) { r.set.Compiled().Store.Abort(ctx, r.txn) }

// nameOf returns the name of a rule, without the key of an element.
func nameOf(rule *ast.Rule) string { return rule.Ref().GroundPrefix().String() }

// group returns the group of a name with its dependencies. A partial set with several definitions becomes the union of
// one group per definition, because each definition reads different values.
func (r *rules) group(ctx context.Context, name string) (*group, error) {
	if existing := r.groups[name]; existing != nil {
		return existing, nil
	}
	g := &group{name: name, rule: r.set.Rule(name)}
	r.groups[name] = g
	all := slices.Clone(r.compiler.GetRulesExact(ast.MustParseRef(name)))
	if len(all) == 0 {
		all = slices.Clone(r.compiler.GetRules(ast.MustParseRef(name)))
	}
	if len(all) < 2 || slices.ContainsFunc(all, func(rule *ast.Rule) bool { return !isElement(rule) }) {
		return g, r.readDependencies(ctx, g, all)
	}
	g.union = true
	for i, rule := range all {
		part := &group{name: name + " " + strconv.Itoa(i), element: rule}
		if err := r.readDependencies(ctx, part, []*ast.Rule{rule}); err != nil {
			return nil, err
		}
		part.name = name + " " + part.print
		if existing := r.groups[part.name]; existing != nil {
			part = existing
		}
		r.groups[part.name] = part
		if !slices.Contains(g.deps, part) {
			g.deps = append(g.deps, part)
		}
	}
	slices.SortFunc(g.deps, func(a, b *group) int { return strings.Compare(a.name, b.name) })
	return g, r.describe(ctx, g, nil)
}

// withDependencies returns the groups and all their dependencies, each once and after its own dependencies.
func withDependencies(groups ...*group) (all []*group) {
	visited := map[*group]bool{}
	var visit func(g *group)
	visit = func(g *group) {
		if visited[g] {
			return
		}
		visited[g] = true
		for _, dep := range g.deps {
			visit(dep)
		}
		all = append(all, g)
	}
	for _, g := range groups {
		visit(g)
	}
	return all
}

// isElement says whether a definition adds one element to a partial set.
func isElement(rule *ast.Rule) bool {
	return rule.Head.DocKind() == ast.PartialSetDoc && rule.Head.Key != nil && rule.Else == nil && len(rule.Head.Args) == 0
}

// readDependencies adds the groups that the definitions refer to, and describes the group.
func (r *rules) readDependencies(ctx context.Context, g *group, next []*ast.Rule) error {
	name := g.name
	definitions := map[*ast.Rule]bool{} // and the functions that they call
	deps := map[string]bool{}
	for len(next) > 0 {
		rule := next[len(next)-1]
		next = next[:len(next)-1]
		if definitions[rule] {
			continue
		}
		definitions[rule] = true
		for branch := rule; branch != nil; branch = branch.Else {
			for node := range r.compiler.Graph.Dependencies(branch) {
				switch dep := node.(*ast.Rule); {
				case len(dep.Head.Args) > 0 || nameOf(dep) == name && g.element == nil:
					next = append(next, dep)
				default:
					deps[nameOf(dep)] = true
				}
			}
		}
	}
	for _, dep := range slices.Sorted(maps.Keys(deps)) {
		d, err := r.group(ctx, dep)
		if err != nil {
			return err
		}
		g.deps = append(g.deps, d)
	}
	return r.describe(ctx, g, slices.Collect(maps.Keys(definitions)))
}

// describe sets the paths that the group reads, and its fingerprints.
func (r *rules) describe(ctx context.Context, g *group, definitions []*ast.Rule) error {
	read, ok := question.Reads(definitions)
	if !ok {
		read = []string{""} // the whole input
	}
	direct := question.RowsAt(read)
	g.inputRows = slices.DeleteFunc(question.AllRows(), func(row *question.Row) bool {
		return !slices.Contains(direct, row) && !slices.ContainsFunc(g.deps, func(dep *group) bool { return slices.Contains(dep.inputRows, row) })
	})
	g.definitions = definitions
	g.noteReads(direct)
	var texts, deps []string
	for _, rule := range definitions {
		texts = append(texts, nameOf(rule)+" "+engine.RuleText(rule))
	}
	slices.Sort(texts)
	data, ungranted, err := r.documentsOf(ctx, definitions)
	if err != nil {
		return err
	}
	g.location = g.firstLocation()
	texts = append(texts, "data")
	g.ownPrint, g.ungrantedPrint = fingerprint(slices.Concat(texts, data)), fingerprint(slices.Concat(texts, ungranted))
	for _, dep := range g.deps {
		deps = append(deps, dep.name, dep.print)
	}
	g.print = fingerprint(append(deps, g.ownPrint))
	return nil
}

// firstLocation returns the location of the group's first rule, nil without rules. A default or a function comes last.
func (g *group) firstLocation() *ast.Location {
	if len(g.definitions) == 0 {
		return nil
	}
	name := g.name
	if g.element != nil {
		name = nameOf(g.element)
	}
	rank := func(rule *ast.Rule) int {
		switch {
		case nameOf(rule) != name:
			return 2
		case rule.Default:
			return 1
		}
		return 0
	}
	return slices.MinFunc(g.definitions, func(a, b *ast.Rule) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Location.Compare(b.Location))
	}).Location
}

// comparedConstants returns the rows that the definitions only compare with constants, with those constants.
func comparedConstants(definitions []*ast.Rule) map[int]map[string]bool {
	out, uses := map[int]map[string]bool{}, map[int]int{}
	for _, rule := range definitions {
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			uses[rowOf(ref)]++
			return false
		})
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			if !e.IsCall() || len(e.Operands()) != 2 || len(e.With) > 0 {
				return false
			}
			if name := limits.Name(e.Operator()); name != "eq" && name != "equal" && name != "neq" {
				return false
			}
			for i := range 2 {
				ref, isRef := e.Operand(i).Value.(ast.Ref)
				if !isRef || !ast.IsScalar(e.Operand(1-i).Value) {
					continue
				}
				row := rowOf(ref)
				if out[row] == nil {
					out[row] = map[string]bool{}
				}
				out[row][e.Operand(1-i).Value.String()] = true
				uses[row]--
			}
			return false
		})
	}
	maps.DeleteFunc(out, func(row int, _ map[string]bool) bool { return uses[row] != 0 })
	return out
}

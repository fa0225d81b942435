package engine

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/builtins"
	"github.com/portcullis-authz/portcullis/resources"
)

// Entry points of the tree.
const (
	entryDecision  = "data.authz.decision"
	entryAccess    = "data.authz.access"
	entryGrantable = "data.authz.grantable"
)

func entries() []string { return []string{entryDecision, entryAccess, entryGrantable} }

// defaultTestsWithin bounds a tree's own tests.
const defaultTestsWithin = 30 * time.Second

// LoadOptions bound the proof of a tree. The zero value is the default.
type LoadOptions struct {
	// TestsWithin bounds the tree's own tests; zero is 30 s.
	TestsWithin time.Duration
}

// Set is one proved tree, compiled. It never changes and may be asked by many goroutines.
type Set struct {
	revision  string
	catalogue *catalogue
	compiler  *ast.Compiler
	queries   map[string]*query
	store     storage.Store
	// txn is read for as long as the set lives: nothing ever writes to the store.
	txn    storage.Transaction
	base   topdown.BaseCache
	values valuesPool
	bounds sync.Pool // of *builtins.Bounds
	inputs inputsPool
	// noMetadata is what OPA would make for each evaluation; no built-in that is let in writes to it.
	noMetadata map[string]any
	words      *words
	actions    *prepared[resources.Action]
	services   *prepared[string]
	// routes are the input's form of the catalogue, by name.
	routes map[string]preparedRoute
	memo   *verdicts // nil in a set that nobody asks twice
	tests  int
}

// query is one entry point. Its answer is found where OPA keeps the values of rules: asked for as
// `rule = answer`, the object would be made once for the rule and again for the result.
type query struct {
	rule ast.Ref
	body ast.Body // compares the rule with what it never is
	key  *keyPlan // nil where no verdict may be reused
}

func newQuery(c *ast.Compiler, entry string) *query {
	rule := ast.MustParseRef(entry)
	return &query{
		rule: rule, key: newKeyPlan(c, entry),
		body: ast.NewBody(ast.Equality.Expr(ast.NewTerm(rule), ast.NullTerm())),
	}
}

// Load reads, compiles and proves a tree. The error is Problems: all that is wrong
// with the tree as far as it could be read.
func Load(ctx context.Context, fsys fs.FS, opts LoadOptions) (*Set, error) {
	src, err := policies.Read(fsys)
	if err != nil {
		return nil, err
	}
	return load(ctx, src, opts)
}

func load(ctx context.Context, src *policies.Source, opts LoadOptions) (s *Set, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, Problems{oneLine(fmt.Sprintf("policy tree: the compiler panicked: %v", r))}
		}
	}()
	if opts.TestsWithin <= 0 {
		opts.TestsWithin = defaultTestsWithin
	}
	var p Problems
	if checkSchemas(src, &p); len(p) > 0 {
		return nil, p
	}
	data, docs := readData(src, &p)
	list := readCatalogue(ctx, src, docs, &p)
	c, err := compile(ctx, src, data, &p)
	if err != nil {
		return nil, p.orElse(err)
	}
	checkEntries(c.serving, &p)
	if err := p.err(); err != nil {
		return nil, err
	}
	s, err = newSet(ctx, src.Revision, list, c)
	if err != nil {
		return nil, Problems{oneLine("policy tree: " + err.Error())}
	}
	refuse := func(at *ast.Location, problem string) { p.at(at.File, at.Row, "%s", problem) }
	builtins.Charge(c.serving, refuse)
	builtins.Charge(c.testing, refuse)
	if err := p.err(); err != nil {
		return nil, err
	}
	probe(ctx, s, opts, &p)
	s.tests = runTests(ctx, c, opts, &p)
	if err := p.err(); err != nil {
		return nil, err
	}
	return s, nil
}

func newSet(ctx context.Context, revision string, list *catalogue, c *compiled) (*Set, error) {
	txn, err := c.store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	root, err := readable(ctx, c.store, txn)
	if err != nil {
		return nil, err
	}
	s := &Set{
		revision: revision, catalogue: list, compiler: c.serving, store: c.store, txn: txn, base: baseData{root}, noMetadata: map[string]any{},
		queries: map[string]*query{}, words: newWords(), actions: newPrepared[resources.Action](), services: newPrepared[string](), routes: map[string]preparedRoute{},
	}
	s.values.New, s.bounds.New = newRuleValues, func() any { return builtins.NewBounds() }
	for _, entry := range entries() {
		s.queries[entry] = newQuery(s.compiler, entry)
	}
	for _, route := range list.routes {
		s.routes[route.Name] = preparedRoute{route.Effect, route.Access, s.words.route(route.Name, route.Effect, route.Access)}
	}
	return s, nil
}

// orElse is the problems, or where there are none the error itself.
func (p Problems) orElse(err error) error {
	if own := p.err(); own != nil {
		return own
	}
	return Problems{oneLine("policy tree: " + err.Error())}
}

// Revision names the tree: a hash over its files' names and bytes.
func (s *Set) Revision() string { return s.revision }

// Tests is how many tests of its own the tree has passed.
func (s *Set) Tests() int { return s.tests }

// Routes is the action catalogue by name, a copy.
func (s *Set) Routes() []resources.Route { return copyRoutes(s.catalogue.routes) }

// Roles are the system roles by id, a copy; their permissions are sorted.
func (s *Set) Roles() []resources.Role { return copyRoles(s.catalogue.roles) }

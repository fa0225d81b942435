package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Entry points of the tree.
const (
	EntryDecision  = "data.authz.decision"
	EntryAccess    = "data.authz.access"
	EntryGrantable = "data.authz.grantable"
)

// EntryPoints returns the rules that every tree has.
func EntryPoints() []string { return []string{EntryDecision, EntryAccess, EntryGrantable} }

// Compiled is a tree that was compiled without a problem.
type Compiled struct {
	// Revision names the tree, Bundle the bundle of a tree that came in one.
	Revision, Bundle string
	// Compiler has the rules without their tests; they call built-ins by OPA's own names. The set takes it over.
	Compiler *ast.Compiler
	// Store has the data; nothing ever writes to it.
	Store  storage.Store
	Routes []resources.Route // by name
	Roles  []resources.Role  // by id
	// Actions are those that the tree lists, by id.
	Actions []resources.ListedAction
	// Strict says that all other actions are denied.
	Strict bool
	// Servers are the MCP servers by name; nothing changes them.
	Servers map[string]*resources.MCPServer
	// Apps are the names of the apps. Each has the rules types and decision.
	Apps []string
	// Source are the files of the tree.
	Source *policies.Source
}

// Set is one compiled tree, ready to be asked. It never changes and is safe for concurrent use.
type Set struct {
	tree    Compiled
	byRoles bool // only assigned roles allow
	masks   bool // the tree has rules about the decision log
	queries map[string]*query
	txn     storage.Transaction // open for as long as the set lives
	bounds  sync.Pool           // of *limits.Bounds
	// noMetadata is what OPA would make for each evaluation; no built-in that is allowed writes to it.
	noMetadata map[string]any
	verdicts   *cache[resources.Decision]
	apps       *apps
	tools      map[string]*toolRules // by MCP server
	uncached   []Costly
	byText     []Costly
	listed     map[string]bool // the actions that the tree lists, by id
}

// query is one entry point. Its answer is found where OPA keeps the values of rules: asked for as
// `rule = answer`, the object would be made once for the rule and again for the result.
type query struct {
	name string
	rule ast.Ref
	body ast.Body // compares the rule with what it never is
	// number tells the keys of entry points apart. keyed are the rows in a key by the principal's kind, nil where no verdict
	// may be cached.
	number byte
	keyed  map[string][]*question.Row
	// reads are the paths of the input on which its answer can rest, and rows those of the table.
	reads []string
	rows  []*question.Row
}

// NewSet prepares a tree for questions. It rejects rules with a built-in it can't bound, and apps with sets of a wrong
// form. The error has a line with the place for each.
func NewSet(ctx context.Context, tree Compiled) (*Set, error) {
	txn, err := tree.Store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{tree: tree, txn: txn, noMetadata: map[string]any{}, queries: map[string]*query{}, listed: actionIDs(tree.Actions)}
	s.masks = s.has(maskRule) || s.has(dropRule)
	s.bounds.New = func() any { return limits.NewBounds(limits.Pace{}) }
	if s.byRoles, err = byRoles(tree.Compiler); err != nil {
		return nil, err
	}
	for i, entry := range EntryPoints() {
		s.queries[entry] = newQuery(entry)
		q := s.queries[entry]
		q.number, q.keyed, q.reads = byte(i), question.KeyRows(tree.Compiler, entry), question.ReadBy(tree.Compiler, entry)
		q.rows = question.RowsAt(q.reads)
	}
	s.apps = s.newApps()
	if s.tools, err = s.newTools(); err != nil {
		return nil, err
	}
	s.findCosts()
	limits.Charge(tree.Compiler, func(loc *ast.Location, problem string) {
		err = errors.Join(err, fmt.Errorf("%s:%d: %s", loc.File, loc.Row, problem))
	})
	if err != nil {
		return nil, err
	}
	return s, s.apps.read(ctx, s)
}

func newQuery(name string) *query {
	rule := ast.MustParseRef(name)
	return &query{name: name, rule: rule, rows: question.AllRows(), body: ast.NewBody(ast.Equality.Expr(ast.NewTerm(rule), ast.NullTerm()))}
}

// Judge evaluates a question at an entry point, without a cache. The error says why it has not decided.
func (s *Set) Judge(ctx context.Context, entry string, q resources.Question, limit time.Duration) (resources.Decision, error) {
	d, err := s.evaluate(ctx, entry, &q, limit)
	return question.FillReason(&q, d), err
}

// key appends what names the question's verdict; nil where none may be cached. No two questions with unlike verdicts share
// a key.
func (s *Set) key(b []byte, entry string, q *resources.Question) []byte {
	asked := s.queries[entry]
	if s.verdicts == nil || asked.keyed == nil {
		return nil
	}
	return asked.key(b, q)
}

func (asked *query) key(b []byte, q *resources.Question) []byte {
	return question.AppendKey(append(b, asked.number), q, asked.keyed[question.KnownKind(q.Principal.Kind)])
}

// Revision names the tree.
func (s *Set) Revision() string { return s.tree.Revision }

// BundleRevision returns the revision in the manifest of the tree's bundle; empty for a tree without one.
func (s *Set) BundleRevision() string { return s.tree.Bundle }

// Routes returns the action catalogue by name, a copy.
func (s *Set) Routes() []resources.Route {
	out := slices.Clone(s.tree.Routes)
	for i := range out {
		out[i].Access = slices.Clone(out[i].Access)
	}
	return out
}

// Roles returns the system roles by id, a copy; their permissions are sorted.
func (s *Set) Roles() []resources.Role {
	out := slices.Clone(s.tree.Roles)
	for i := range out {
		out[i].Permissions = slices.Clone(out[i].Permissions)
	}
	return out
}

// Actions returns the actions that the tree lists, by id, a copy: those of its routes and MCP servers, and those of other
// services.
func (s *Set) Actions() []resources.ListedAction { return slices.Clone(s.tree.Actions) }

// MCPServer returns the MCP server of a name, which nobody changes; nil without one.
func (s *Set) MCPServer(name string) *resources.MCPServer { return s.tree.Servers[name] }

// MCPServers returns the names of the MCP servers, in order.
func (s *Set) MCPServers() []string { return slices.Sorted(maps.Keys(s.tree.Servers)) }

// Strict says whether actions are denied that the tree does not list.
func (s *Set) Strict() bool { return s.tree.Strict }

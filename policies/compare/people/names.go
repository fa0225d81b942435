package people

import (
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
)

// names says which ids rules can distinguish from others: the texts of a tree.
type names struct {
	texts map[string]bool
	// all keeps every id, and everything that a user holds; roles keeps the ids of custom roles.
	all, roles bool
	// rows are those of the question's table that rules read.
	rows []*question.Row
}

// newNames collects the texts of two trees, and what their rules read.
func newNames(ctx context.Context, sets [2]*engine.Set, gaps []compare.Gap) (*names, error) {
	n := &names{texts: map[string]bool{}}
	for _, gap := range gaps {
		switch part, _, _ := strings.Cut(gap.Reads, "."); {
		case part == "now" || part == "action" || part == "route" || part == "grant" || strings.HasPrefix(part, "what is asked of the app"):
		case strings.HasPrefix(gap.Reads, "subject.here"):
			n.roles = true
		default:
			n.all = true
		}
	}
	var reads []string
	for _, set := range sets {
		compiled := set.Compiled()
		for _, entry := range engine.EntryPoints() {
			reads = append(reads, question.ReadBy(compiled.Compiler, entry)...)
		}
		for _, module := range compiled.Compiler.Modules {
			ast.WalkTerms(module, n.add)
		}
		data, err := storage.ReadOne(ctx, compiled.Store, storage.Path{})
		if err != nil {
			return nil, err
		}
		value, err := ast.InterfaceToValue(data)
		if err != nil {
			return nil, err
		}
		ast.WalkTerms(ast.NewTerm(value), n.add)
	}
	n.rows = question.RowsAt(slices.Compact(slices.Sorted(slices.Values(reads))))
	return n, nil
}

// add adds a text, and the resource above it if it is a path.
func (n *names) add(t *ast.Term) bool {
	if text, ok := t.Value.(ast.String); ok {
		n.texts[string(text)] = true
		if parts := strings.SplitN(string(text), "/", 3); len(parts) == 3 {
			n.texts[parts[0]+"/"+parts[1]] = true
		}
	}
	return false
}

// mask returns the id if a rule can distinguish it, and else the other one. The id of a resource counts by its last
// part as well.
func (n *names) mask(id, other string) string {
	_, last, _ := strings.Cut(id, "/")
	if id == "" || n.all || n.texts[id] || last != "" && n.texts[last] {
		return id
	}
	return other
}

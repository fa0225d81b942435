package people

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// names are the texts of two trees: ids that are none of them are equal or not to other parts of the input, and no
// more. Where a rule hands ids to a built-in, all of them count.
type names struct {
	known map[string]bool
	// all says that every id counts, roles that those of custom roles do, times that the ends of assignments do.
	all, roles, times bool
}

// farOff is a number from which on it may be a time; those below are years and counts. Never is the one that stands for
// no end.
const (
	farOff = 1_000_000_000
	never  = 253402300799999
)

// newNames finds the names of two trees.
func newNames(ctx context.Context, sets [2]*engine.Set, gaps []compare.Gap) (names, error) {
	n := names{known: map[string]bool{}}
	for _, g := range gaps {
		switch of, _, _ := strings.Cut(g.Reads, "."); {
		case g.Reads == "subject.here.expires" || g.Reads == "now":
			n.times = true
		case strings.HasPrefix(g.Reads, "subject.here") || strings.HasPrefix(g.Reads, "subject.roles"):
			n.roles = true
		case of == "action" || of == "route" || of == "grant" || strings.HasPrefix(g.Reads, "what is asked of the app"):
		default:
			n.all, n.roles, n.times = true, true, true
		}
	}
	for _, set := range sets {
		of := set.Compiled()
		for _, module := range of.Compiler.Modules {
			ast.WalkTerms(module, func(t *ast.Term) bool {
				n.add(t.Value)
				return false
			})
		}
		txn, err := of.Store.NewTransaction(ctx, storage.TransactionParams{})
		if err != nil {
			return n, err
		}
		data, err := of.Store.Read(ctx, txn, storage.Path{})
		of.Store.Abort(ctx, txn)
		if err != nil {
			return n, err
		}
		n.document(data)
	}
	return n, nil
}

func (n *names) add(v ast.Value) {
	switch v := v.(type) {
	case ast.String:
		n.text(string(v))
	case ast.Number:
		n.number(json.Number(v))
	}
}

func (n *names) number(v json.Number) {
	if at, err := v.Float64(); err == nil && at >= farOff && at != never {
		n.times = true
	}
}

// text adds a text, and the resource to which it leads.
func (n *names) text(s string) {
	n.known[s] = true
	if parts := strings.SplitN(s, "/", 3); len(parts) > 2 {
		n.known[parts[0]+"/"+parts[1]] = true
	}
}

// document adds what is in a data document, its keys, too.
func (n *names) document(of any) {
	switch of := of.(type) {
	case map[string]any:
		for key, value := range of {
			n.text(key)
			n.document(value)
		}
	case []any:
		for _, value := range of {
			n.document(value)
		}
	case string:
		n.text(of)
	case json.Number:
		n.number(of)
	case ast.Value:
		ast.WalkTerms(ast.NewTerm(of), func(t *ast.Term) bool {
			n.add(t.Value)
			return false
		})
	}
}

// has says whether a rule can tell the id from others. An id of a resource counts by its last part as well.
func (n *names) has(id string) bool {
	if n.all || n.known[id] {
		return true
	}
	_, last, of := strings.Cut(id, "/")
	return of && n.known[last]
}

// keep returns the id if a rule can tell it from others, and else the other one.
func (n *names) keep(id, other string) string {
	if n.has(id) {
		return id
	}
	return other
}

func (n *names) keepRole(id, other string) string {
	if n.roles {
		return id
	}
	return n.keep(id, other)
}

func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

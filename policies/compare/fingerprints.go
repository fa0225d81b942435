package compare

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/question"
)

// Prints tell the rules of a package apart from others, by their names: by their text, that of the rules on which they
// rest, and the package's own documents. The name of an element of a set is its text, where it is a constant.
func Prints(ctx context.Context, set *engine.Set, pkg string) (map[string][]string, error) {
	r, err := openRules(ctx, set)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	r.prefix = pkg
	all, err := r.forms(ctx, pkg)
	out := map[string][]string{}
	for name, forms := range all {
		out[name] = slices.Sorted(maps.Keys(forms))
	}
	return out, err
}

// forms returns the places of the rules below a reference, by their names and prints.
func (r *rules) forms(ctx context.Context, pkg string) (map[string]map[string]*ast.Location, error) {
	out := map[string]map[string]*ast.Location{}
	for _, rule := range r.compiler.GetRulesWithPrefix(ast.MustParseRef(pkg)) {
		g := &group{name: nameOf(rule), rule: r.set.Rule(nameOf(rule))}
		if err := r.readDependencies(ctx, g, []*ast.Rule{rule}, map[*ast.Rule]bool{}); err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(nameOf(rule), pkg+".")
		if isElement(rule) {
			if text, ok := rule.Head.Key.Value.(ast.String); ok {
				name = string(text)
			}
		}
		if out[name] == nil {
			out[name] = map[string]*ast.Location{}
		}
		out[name][g.print] = rule.Location
	}
	return out, nil
}

// document is one of the tree's, and the reference to it.
type document struct{ ref, print string }

type documents []document

func (d documents) texts() (out []string) {
	for _, document := range d {
		out = append(out, document.ref, document.print)
	}
	return out
}

// ungranted returns the texts of all but data.grants.
func (d documents) withoutGrants() []string {
	return slices.DeleteFunc(slices.Clone(d), func(document document) bool { return question.Within(document.ref, "data.grants") }).texts()
}

// data returns the documents that the rules refer to, as far as no rule makes them.
func (r *rules) documentsOf(ctx context.Context, definitions []*ast.Rule) (all documents, err error) {
	refs := map[string]ast.Ref{}
	for _, rule := range definitions {
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			if !ref.HasPrefix(ast.DefaultRootRef) {
				return false
			}
			if prefix := ref.ConstantPrefix(); len(r.compiler.GetRulesForVirtualDocument(prefix)) == 0 && question.Within(prefix.String(), r.prefix) {
				refs[prefix.String()] = prefix
			}
			return false
		})
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		value, err := r.documentPrint(ctx, refs[name])
		if err != nil {
			return nil, err
		}
		all = append(all, document{name, value})
	}
	return all, nil
}

// read returns the fingerprint of a document of the tree, "" where there is none.
func (r *rules) documentPrint(ctx context.Context, ref ast.Ref) (string, error) {
	name := ref.String()
	if text, ok := r.documents[name]; ok {
		return text, nil
	}
	value, err := r.documentValue(ctx, ref)
	if err != nil {
		return "", err
	}
	text := ""
	if value != nil {
		text = fingerprint([]string{value.String()})
	}
	r.documents[name] = text
	return text, nil
}

// value returns a document of the tree, nil where there is none.
func (r *rules) documentValue(ctx context.Context, ref ast.Ref) (ast.Value, error) {
	path, err := storage.NewPathForRef(ref)
	if err != nil {
		return nil, err
	}
	content, err := r.set.Compiled().Store.Read(ctx, r.txn, path)
	if storage.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ast.InterfaceToValue(content)
}

// fingerprint returns a hash over texts, each with its length before it.
func fingerprint(texts []string) string {
	h := sha256.New()
	for _, text := range texts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(text))) // a hash takes every write
		_, _ = h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

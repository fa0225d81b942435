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

// Form is a rule of a package, with its fingerprint.
type Form struct {
	// Rule is the name of the rule. Name is the same; for an element of a set it is the element's text if that is constant.
	Rule, Name string
	print      string
	location   *ast.Location
}

// Removed returns the rules of a package that the next tree lacks in their form. The form covers the rule's text, the rules
// it depends on, and the package's own documents.
func Removed(ctx context.Context, old, next *engine.Set, pkg string) ([]Form, error) {
	all, _, err := formsOf(ctx, [2]*engine.Set{old, next}, pkg, pkg)
	return missing(all[0], all[1]), err
}

// formsOf returns the rules below a reference in both trees, and the fingerprints of the document beside them. The forms
// cover the documents below the prefix.
func formsOf(ctx context.Context, sets [2]*engine.Set, pkg, prefix string) (all [2][]Form, documents [2]string, err error) {
	for i, set := range sets {
		r, err := openRules(ctx, set)
		if err != nil {
			return all, documents, err
		}
		defer r.close(ctx)
		r.prefix = prefix
		if documents[i], err = r.documentPrint(ctx, ast.MustParseRef(pkg)); err != nil {
			return all, documents, err
		}
		if all[i], err = r.forms(ctx, pkg); err != nil {
			return all, documents, err
		}
	}
	return all, documents, nil
}

// missing returns the forms that the other tree lacks.
func missing(forms, existing []Form) []Form {
	return slices.DeleteFunc(slices.Clone(forms), func(f Form) bool {
		return slices.ContainsFunc(existing, func(o Form) bool { return o.Name == f.Name && o.print == f.print })
	})
}

// forms returns the rules below a reference, ordered by location.
func (r *rules) forms(ctx context.Context, pkg string) (out []Form, err error) {
	for _, rule := range r.compiler.GetRulesWithPrefix(ast.MustParseRef(pkg)) {
		g := &group{name: nameOf(rule), rule: r.set.Rule(nameOf(rule))}
		if err := r.readDependencies(ctx, g, []*ast.Rule{rule}); err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(nameOf(rule), pkg+".")
		f := Form{name, name, g.print, rule.Location}
		if isElement(rule) {
			if text, ok := rule.Head.Key.Value.(ast.String); ok {
				f.Name = string(text)
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Form) int { return a.location.Compare(b.location) })
	return out, nil
}

// changedForms returns the rules below a reference for which the other tree has none with the same name, text,
// dependencies and data. A different document beside the rules changes all of them.
func changedForms(ctx context.Context, sets [2]*engine.Set, pkg string) ([2][]Form, error) {
	all, documents, err := formsOf(ctx, sets, pkg, "")
	if err != nil || documents[0] != documents[1] {
		return all, err
	}
	return [2][]Form{missing(all[0], all[1]), missing(all[1], all[0])}, nil
}

// documentsOf returns the documents of the tree that the definitions refer to, each by its reference and its fingerprint.
// Documents made by rules are left out. ungranted are all but those of data.grants.
func (r *rules) documentsOf(ctx context.Context, definitions []*ast.Rule) (all, ungranted []string, err error) {
	refs := map[string]ast.Ref{}
	for _, rule := range definitions {
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			if !ref.HasPrefix(ast.DefaultRootRef) {
				return false
			}
			if prefix := ref.ConstantPrefix(); len(r.compiler.GetRulesForVirtualDocument(prefix)) == 0 && question.PartOf(prefix.String(), r.prefix) {
				refs[prefix.String()] = prefix
			}
			return false
		})
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		fingerprint, err := r.documentPrint(ctx, refs[name])
		if err != nil {
			return nil, nil, err
		}
		all = append(all, name, fingerprint)
		if !question.PartOf(name, "data.grants") {
			ungranted = append(ungranted, name, fingerprint)
		}
	}
	return all, ungranted, nil
}

// documentPrint returns the fingerprint of a document of the tree, "" if it does not exist. It caches the fingerprint.
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

// documentValue returns a document of the tree, nil if it does not exist.
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

package bundles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
)

// maxRevision bounds the revision of a manifest, which is a header of answers.
const maxRevision = 128

// Open returns the tree that a bundle holds. With a key its signature must be good, and an unsigned bundle is refused;
// without one a signed bundle is. The error says what is wrong and the remedy.
func Open(raw []byte, key *Key) (*policies.Source, error) {
	unlaid, err := read(raw, key)
	if err != nil {
		return nil, err
	}
	return laid(unlaid)
}

// read returns what a bundle itself holds: of an overlay its own files alone.
func read(raw []byte, key *Key) (unlaid *policies.Source, err error) {
	defer guard(&unlaid, &err)
	if err := inspect(raw); err != nil {
		return nil, err
	}
	read, err := bundle.NewCustomReader(bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(raw), "")).
		WithSizeLimitBytes(maxFile + 1).WithLazyLoadingMode(true).WithRegoVersion(ast.RegoV1).
		WithProcessAnnotations(false).WithBundleVerificationConfig(key.verification()).Read()
	if err != nil {
		return nil, explain(err)
	}
	if err := checkKind(&read); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if err := addModules(files, read.Modules); err != nil {
		return nil, err
	}
	if err := addData(files, read.Raw); err != nil {
		return nil, err
	}
	if err := checkRoots(*read.Manifest.Roots, files); err != nil {
		return nil, err
	}
	if document := manifestMember + "/" + dataFile; files[document] != nil {
		files[overlay.ManifestFile] = files[document]
		delete(files, document)
	}
	unlaid = policies.FromBundle(files, read.Manifest.Revision)
	unlaid.Issued, err = issued(read.Signatures)
	return unlaid, err
}

// laid returns the tree of what a bundle holds, laid over the program's if it is an overlay.
func laid(unlaid *policies.Source) (tree *policies.Source, err error) {
	defer guard(&tree, &err)
	if tree, err = overlay.Over(unlaid); err != nil || tree.Base != "" {
		return tree, err
	}
	if err := addSchemas(tree.Files); err != nil {
		return nil, err
	}
	tree = policies.FromBundle(tree.Files, unlaid.Bundle)
	tree.Issued = unlaid.Issued
	return tree, nil
}

// guard makes an error of a panic, and says that an error is of a bundle.
func guard(tree **policies.Source, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
	if *err != nil {
		*tree, *err = nil, fmt.Errorf("policy bundle: %w", *err)
	}
}

// explain adds the remedy to what OPA's reader says.
func explain(err error) error {
	for _, hint := range []struct{ says, remedy string }{
		{"missing .signatures.json", "it is not signed: sign it with opa sign -b, or opa build --signing-key"},
		{"missing JWT", "it is not signed: sign it with opa sign -b, or opa build --signing-key"},
		{"verification key not provided", "it is signed, and there is no key to check it with: give --policy-bundle-key"},
		{"failed to verify JWT signature", "it is signed with another key: is --policy-bundle-key the right one?"},
		{"digest mismatch", "it was changed after it was signed: sign it again, or find out who changed it"},
		{"not included in bundle signature", "files were added after it was signed: sign it again, or find out who added them"},
		{"specified in bundle signatures but not found", "files were taken away after it was signed: sign it again, or find out who did"},
		{"scope mismatch", "its signature has a scope: sign it without one"},
		{"manifest roots", "its manifest's roots do not cover what is in it: build it with opa build -b and no roots"},
	} {
		if strings.Contains(err.Error(), hint.says) {
			return fmt.Errorf("%s (%w)", hint.remedy, err)
		}
	}
	return fmt.Errorf("can't be read (%w): build it again with opa build -b", err)
}

// checkKind refuses bundles that have something else in the place of rules.
func checkKind(b *bundle.Bundle) error {
	if len(b.WasmModules)+len(b.PlanModules) > 0 {
		return errors.New("it holds compiled rules, which nobody could check: build it with opa build -b, and without -t")
	}
	return checkRevision(b.Manifest.Revision)
}

func checkRevision(revision string) error {
	if len(revision) > maxRevision || strings.ContainsFunc(revision, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the revision must be at most %d printable characters of ASCII without spaces: build it with another one (-r)", maxRevision)
	}
	return nil
}

// addModules adds the modules under their names in the tree: what stands before the folder authz goes. Of several such
// folders it is the outer one; `policy export` writes another one below it.
func addModules(files map[string][]byte, modules []bundle.ModuleFile) error {
	root, isKnown := "", false
	for _, m := range modules {
		folder := path.Dir(strings.TrimPrefix(m.Path, "/"))
		if m.Parsed.Package.Path.String() != "data.authz" || path.Base(folder) != "authz" {
			continue
		}
		if before := strings.TrimSuffix(folder, "authz"); !isKnown || len(before) < len(root) {
			root, isKnown = before, true
		}
	}
	for _, m := range modules {
		name := strings.TrimPrefix(strings.TrimPrefix(m.Path, "/"), root)
		if files[name] != nil {
			return fmt.Errorf("two of its files are %s of the tree: leave one out", name)
		}
		if err := checkName(name); err != nil {
			return err
		}
		files[name] = m.Raw
	}
	return nil
}

// checkName refuses a name that a folder's tree would not have.
func checkName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") || part == "" {
			return fmt.Errorf("%q has a part that begins with . or _ or is empty, and can be no part of a tree: leave it out, with --ignore", name)
		}
	}
	return nil
}

// checkRoots wants a manifest that speaks for the whole tree: OPA would keep what else is in `data`.
func checkRoots(roots []string, files map[string][]byte) error {
	want := map[string]bool{"authz": true, "grants": true, "routes": true}
	for name := range files {
		if path.Base(name) == dataFile {
			want[path.Dir(name)] = true
		}
	}
	for place := range want {
		if !bundle.RootPathsContain(roots, place) {
			return fmt.Errorf("the roots %q of its manifest leave out %s, which is a part of the tree: build it with opa build -b and no roots", roots, place)
		}
	}
	return nil
}

// addSchemas adds the schemas of the binary.
func addSchemas(files map[string][]byte) error {
	return fs.WalkDir(policies.Tree(), schemas, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(policies.Tree(), name)
		return err
	})
}

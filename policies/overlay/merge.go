package overlay

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// Read reads the tree in a folder: an overlay merged with the program's tree, or a whole tree as it is. The error is
// Problems where the folder is not an overlay of this base.
func Read(tree fs.FS) (*policies.Source, error) {
	folder, err := policies.Read(tree)
	if err != nil {
		return nil, err
	}
	return Over(folder)
}

// Over merges an overlay with the program's tree; a source without a manifest is a whole tree and stays as it is. No file of
// either has the name of one of the program's.
func Over(folder *policies.Source) (*policies.Source, error) {
	var p Problems
	for _, name := range folder.Names {
		if strings.HasPrefix(name, baseMark) {
			p.add(name, 0, "a name that begins with %s is that of a file of the program's tree: take another one", baseMark)
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	if folder.Files[ManifestFile] == nil {
		return folder, nil
	}
	base, err := policies.Read(policies.Tree())
	if err != nil {
		return nil, err
	}
	return Merge(base, folder)
}

// withoutManifest returns the files but for the manifest.
func withoutManifest(files map[string][]byte) map[string][]byte {
	out := maps.Clone(files)
	delete(out, ManifestFile)
	return out
}

// Merge lays an overlay, which has a manifest, over a base. The error is Problems: everything in the overlay that would change
// the base without saying so.
func Merge(base, folder *policies.Source) (*policies.Source, error) {
	m, err := parseManifest(folder.Files[ManifestFile])
	if err != nil {
		return nil, err
	}
	if m.Base == baseNone {
		return folder.Merged(withoutManifest(folder.Files), "", nil), nil
	}
	x := newMerge(base, folder, m)
	x.checkFiles()
	x.checkReplaced()
	x.checkRules()
	x.mergeData()
	if err := x.problems.err(); err != nil {
		return nil, err
	}
	for name, text := range x.base {
		x.files[policies.BaseMark+name] = text
	}
	tree := folder.Merged(x.files, base.Revision, x.warnings)
	x.checkSize(tree)
	if err := x.problems.err(); err != nil {
		return nil, err
	}
	return tree, nil
}

// checkSize refuses a merged tree that no store could keep: the next start would ask no guards about a new base.
func (x *merge) checkSize(tree *policies.Source) {
	raw, err := Pack(tree)
	switch {
	case err != nil:
		x.problems.add(ManifestFile, 0, "the tree can't be packed: %v", err)
	case len(raw) > maxPacked:
		x.problems.add(ManifestFile, 0, "with its base the overlay takes %d MiB compressed, and at most %d can be kept for the next start: take data out of it",
			(len(raw)+1<<20-1)>>20, maxPacked>>20)
	}
}

// merge is an overlay on its way to be laid over a base.
type merge struct {
	manifest Manifest
	// parts are those that the base can have replaced, by their names.
	parts map[string]Part
	// base and files are the files of the base that stay, with what is left of each, and those of the overlay.
	base, files map[string][]byte
	// modules are those of the overlay by their names; replaced are the base's modules behind those in their place.
	modules, replaced map[string]*ast.Module
	// rules are the remaining rules of the base by their paths; used has all names in them.
	rules    map[string]*ast.Rule
	used     map[ast.Var]bool
	lines    map[string]map[string]int // of the members of documents, by their files
	problems Problems
	warnings []string
}

func newMerge(base, folder *policies.Source, m Manifest) *merge {
	x := &merge{
		manifest: m, parts: Parts(base), base: map[string][]byte{}, files: withoutManifest(folder.Files), replaced: map[string]*ast.Module{},
		lines: map[string]map[string]int{},
	}
	modules, errs := parse(folder.Files)
	for name, err := range errs {
		x.problems.parser(name, err)
	}
	x.modules = modules
	for name, text := range base.Files {
		if !strings.HasSuffix(name, testSuffix) || isShared(name) {
			x.base[name] = text
		}
	}
	return x
}

const testSuffix = "_test.rego"

// isShared says whether an overlay's tests run with this test file of the base: one of helpers, or of what holds under any
// overlay. The other tests of the base are about the base alone.
func isShared(name string) bool {
	return strings.HasSuffix(name, "fixtures"+testSuffix) || strings.HasSuffix(name, "promises"+testSuffix)
}

// folders has the files that an overlay may have, by the folder; "" is any file.
var folders = map[string]string{
	"authz": ".rego", "guards": ".rego", "log": ".rego", "apps": "", "tools": ".rego", "grants": "data.json", "routes": "data.json", "actions": "data.json", "mcp": "",
}

// checkFiles refuses files that would stand beside those of the base.
func (x *merge) checkFiles() {
	for name := range x.files {
		folder, rest, nested := strings.Cut(name, "/")
		want, exists := folders[folder]
		switch {
		case !nested:
			x.problems.add(name, 0, "an overlay has no such file: rules are in authz/, data in grants/, routes/, actions/ and mcp/")
		case strings.HasPrefix(folder, ownPrefix) && rest == "data.json":
		case !exists && folder == "schemas":
			x.problems.add(name, 0, "the schemas are the base's: take the file out")
		case !exists:
			x.problems.add(name, 0, "an overlay has no folder %s: its own data is in a folder named %s…", folder, ownPrefix)
		case want == "data.json" && rest != want:
			x.problems.add(name, 0, "must be %s/data.json", folder)
		case folder == mcpFolder:
			x.checkServer(name)
		case want == ".rego" && !strings.HasSuffix(rest, want):
			x.problems.add(name, 0, "the data beside the base's rules is the base's: put own data into a folder named %s…", ownPrefix)
		}
	}
}

// checkReplaced takes what is replaced and removed out of the base, and warns of what has changed since.
func (x *merge) checkReplaced() {
	for _, name := range slices.Sorted(maps.Keys(x.manifest.Replaces)) {
		part, exists := x.parts[name]
		if !exists {
			x.problems.add(ManifestFile, 0, "replaces: the base has no %s; take it out of the list, and name what takes its place %s…", name, ownPrefix)
			continue
		}
		replacement := x.replacement(part)
		if replacement == nil {
			x.problems.add(ManifestFile, 0, "replaces: nothing in the folder takes the place of %s; `portcullis policy replace %s` writes a copy of the base's", name, name)
			continue
		}
		if revision := x.manifest.Replaces[name]; part.Revision != revision {
			x.warnings = append(x.warnings, changed(part, revision, replacement))
		}
		x.remove(part)
		if modules, _ := parse(map[string][]byte{name: part.Text}); modules[name] != nil { // of a file
			x.replaced[name] = modules[name]
		}
	}
	for _, id := range x.manifest.Without {
		part, exists := x.parts["grants/"+id]
		if !exists {
			x.problems.add(ManifestFile, 0, "without: the base has no system role %s", id)
			continue
		}
		if _, replaces := x.manifest.Replaces[part.Name]; replaces {
			x.problems.add(ManifestFile, 0, "without: %s is in replaces, too: leave one of them out", id)
		}
		x.remove(part)
	}
}

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
	own, err := policies.Read(tree)
	if err != nil {
		return nil, err
	}
	return Over(own)
}

// Over merges an overlay with the program's tree; a source without a manifest is a whole tree and stays as it is. No file of
// either has the name of one of the program's.
func Over(own *policies.Source) (*policies.Source, error) {
	var p Problems
	for _, name := range own.Names {
		if strings.HasPrefix(name, baseMark) {
			p.add(name, 0, "a name that begins with %s is that of a file of the program's tree: take another one", baseMark)
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	if own.Files[ManifestFile] == nil {
		return own, nil
	}
	base, err := policies.Read(policies.Tree())
	if err != nil {
		return nil, err
	}
	return Merge(base, own)
}

// without returns the files but for the manifest.
func without(files map[string][]byte) map[string][]byte {
	out := maps.Clone(files)
	delete(out, ManifestFile)
	return out
}

// Merge lays an overlay, which has a manifest, over a base. The error is Problems: everything in the overlay that would change
// the base without saying so.
func Merge(base, own *policies.Source) (*policies.Source, error) {
	m, err := parseManifest(own.Files[ManifestFile])
	if err != nil {
		return nil, err
	}
	if m.Base == baseNone {
		return own.Merged(without(own.Files), "", nil), nil
	}
	x := newMerge(base, own, m)
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
	return own.Merged(x.files, base.Revision, x.warnings), nil
}

// merge is an overlay on its way to be laid over a base.
type merge struct {
	manifest Manifest
	// parts are those that the base can have replaced, by their names.
	parts map[string]Part
	// base and files are the files of the base that stay, with what is left of each, and those of the overlay.
	base, files map[string][]byte
	// own are the modules of the overlay, replaced those of the base whose place some of them take, by their names.
	own, replaced map[string]*ast.Module
	// rules are those of the base that stay, by their paths, and used are all names that stand in them.
	rules    map[string]*ast.Rule
	used     map[ast.Var]bool
	problems Problems
	warnings []string
}

func newMerge(base, own *policies.Source, m Manifest) *merge {
	x := &merge{manifest: m, parts: Parts(base), base: map[string][]byte{}, files: without(own.Files), replaced: map[string]*ast.Module{}}
	modules, errs := parse(own.Files)
	for name, err := range errs {
		x.problems.parser(name, err)
	}
	x.own = modules
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

// folders are those in which an overlay may have files, with the files that it may have there; "" is any.
var folders = map[string]string{
	"authz": ".rego", "guards": ".rego", "log": ".rego", "apps": "", "tools": ".rego", "grants": "data.json", "routes": "data.json", "actions": "data.json",
}

// checkFiles refuses files that would stand beside those of the base.
func (x *merge) checkFiles() {
	for name := range x.files {
		folder, rest, nested := strings.Cut(name, "/")
		want, known := folders[folder]
		switch {
		case !nested:
			x.problems.add(name, 0, "an overlay has no such file: rules are in authz/, data in grants/, routes/ and actions/")
		case strings.HasPrefix(folder, ownPrefix) && rest == "data.json":
		case !known && folder == "schemas":
			x.problems.add(name, 0, "the schemas are the base's: take the file out")
		case !known:
			x.problems.add(name, 0, "an overlay has no folder %s: its own data is in a folder named %s…", folder, ownPrefix)
		case want == "data.json" && rest != want:
			x.problems.add(name, 0, "must be %s/data.json", folder)
		case want == ".rego" && !strings.HasSuffix(rest, want):
			x.problems.add(name, 0, "the data beside the base's rules is the base's: put own data into a folder named %s…", ownPrefix)
		}
	}
}

// checkReplaced takes what is replaced and removed out of the base, and warns of what has changed since.
func (x *merge) checkReplaced() {
	for _, name := range slices.Sorted(maps.Keys(x.manifest.Replaces)) {
		part, known := x.parts[name]
		if !known {
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
		part, known := x.parts["grants/"+id]
		if !known {
			x.problems.add(ManifestFile, 0, "without: the base has no system role %s", id)
			continue
		}
		if _, replaces := x.manifest.Replaces[part.Name]; replaces {
			x.problems.add(ManifestFile, 0, "without: %s is in replaces, too: leave one of them out", id)
		}
		x.remove(part)
	}
}

package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/binary"
)

// Edit replaces one text in a file of the program, named from the module's root; the text has to
// be there exactly once.
type Edit struct{ File, Old, New string }

// Builder builds the program, with edits and without. It is safe for concurrent use.
type Builder struct {
	root, dir string

	mu    sync.Mutex
	built map[string]string
}

// NewBuilder builds what is in the module's root, into dir.
func NewBuilder(root, dir string) *Builder {
	return &Builder{root: root, dir: dir, built: map[string]string{}}
}

// Program returns the path of the program with the edits, built once for each name, or without edits of the program as
// it is. The test ends if it does not build.
func (b *Builder) Program(t testing.TB, name string, edits ...Edit) string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if path, ok := b.built[name]; ok {
		return path
	}
	if len(edits) == 0 {
		path, err := binary.Build(b.root, false)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	list, err := b.write(name, edits)
	if err != nil {
		t.Fatalf("mutant %q: %v", name, err)
	}
	path := filepath.Join(b.dir, "portcullis-"+word(name))
	//nolint:gosec // the tests' own folders
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", path, "./cmd/portcullis")
	build.Dir = b.root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %q: %v\n%s", name, err, out)
	}
	b.built[name] = path
	return path
}

// write writes the edited files and the list that the go command takes.
func (b *Builder) write(name string, edits []Edit) (string, error) {
	edited, err := b.apply(edits)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range edited {
		path, err := filepath.Abs(filepath.Join(b.root, file))
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(b.dir, fmt.Sprintf("%s-%d%s", word(name), len(replace), filepath.Ext(file)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(b.dir, word(name)+".json")
	return list, os.WriteFile(list, raw, 0o600)
}

// apply gives the edited files by their names; edits of one file are made one after the other.
func (b *Builder) apply(edits []Edit) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range edits {
		if _, read := files[e.File]; !read {
			raw, err := os.ReadFile(filepath.Join(b.root, e.File))
			if err != nil {
				return nil, err
			}
			files[e.File] = string(raw)
		}
		if n := strings.Count(files[e.File], e.Old); n != 1 {
			return nil, fmt.Errorf("its text stands %d times in %s; it has to be written anew:\n%s", n, e.File, e.Old)
		}
		files[e.File] = strings.Replace(files[e.File], e.Old, e.New, 1)
	}
	return files, nil
}

// Fits fails the test where the edits do not fit the program any more; nothing is built.
func (b *Builder) Fits(t testing.TB, name string, edits ...Edit) {
	t.Helper()
	if _, err := b.apply(edits); err != nil {
		t.Errorf("mutant %q: %v", name, err)
	}
}

// word makes a name fit for a file.
func word(name string) string { return strings.ReplaceAll(name, " ", "-") }

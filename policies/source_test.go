package policies_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestWhatIsNotReadIsNamed guarantees a warning of each file and folder that OPA's commands read and this program does not. The
// drafts of an editor, and other files, are not named.
func TestWhatIsNotReadIsNamed(t *testing.T) {
	tree := policytest.Small(t).With("authz/_never.rego", "x").With("_drafts/x.rego", "x").With("authz/.x.rego", "x").With("_notes.md", "x")
	src := must.Get(policies.Read(tree))(t)
	if len(src.Warnings) != 2 || !strings.HasPrefix(src.Warnings[0], "_drafts: isn't read") || !strings.HasPrefix(src.Warnings[1], "authz/_never.rego: isn't read") {
		t.Errorf("%q", src.Warnings)
	}
	if merged := src.Merged(src.Files, "base", []string{"changed"}); len(merged.Warnings) != 3 {
		t.Errorf("an overlay: %q", merged.Warnings)
	}
}

// TestATreeIsReadAgainOnlyWhereItMayHaveChanged guarantees that Unchanged is true for an old tree without changes, and
// false after any change of its files.
func TestATreeIsReadAgainOnlyWhereItMayHaveChanged(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		edit func(t *testing.T, dir, file string)
		want bool
	}{
		"nothing":       {func(*testing.T, string, string) {}, true},
		"no tree's own": {func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, "README.md"), "x") }, true},
		"written with its time put back": {func(t *testing.T, _, file string) {
			write(t, file, "longer")
			must.Do(t, os.Chtimes(file, old, old))
		}, false},
		"another time": {func(t *testing.T, _, file string) { must.Do(t, os.Chtimes(file, old, old.Add(time.Nanosecond))) }, false},
		"another file of its size and time": {func(t *testing.T, dir, file string) {
			must.Do(t, os.CopyFS(filepath.Join(dir, ".other"), os.DirFS(filepath.Dir(file))))
			must.Do(t, os.Chtimes(filepath.Join(dir, ".other", "authz.rego"), old, old))
			must.Do(t, os.Rename(filepath.Join(dir, ".other", "authz.rego"), file))
		}, false},
		"a new file": {func(t *testing.T, dir, _ string) {
			write(t, filepath.Join(dir, "new.rego"), "")
			must.Do(t, os.Chtimes(filepath.Join(dir, "new.rego"), old, old))
		}, false},
		"a file less": {func(t *testing.T, _, file string) { must.Do(t, os.Remove(file)) }, false},
		"no folder":   {func(t *testing.T, dir, _ string) { must.Do(t, os.RemoveAll(dir)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tree := policytest.Small(t)
			tree.Write(t, dir)
			if read, err := policies.Read(policies.Dir(dir)); err != nil || read.Unchanged(policies.Dir(dir)) {
				t.Fatalf("Unchanged is true for files that were just written: %v", err)
			}
			for name := range tree {
				must.Do(t, os.Chtimes(filepath.Join(dir, name), old, old))
			}
			read := must.Get(policies.Read(policies.Dir(dir)))(t)
			c.edit(t, dir, filepath.Join(dir, "authz", "authz.rego"))
			if got := read.Unchanged(policies.Dir(dir)); got != c.want {
				t.Errorf("unchanged: %v", got)
			}
		})
	}
}

// TestALinkToAParentEnds guarantees that Read rejects a loop of links.
func TestALinkToAParentEnds(t *testing.T) {
	dir := t.TempDir()
	policytest.Small(t).Write(t, dir)
	must.Do(t, os.Symlink("..", filepath.Join(dir, "authz", "up")))
	if _, err := policies.Read(policies.Dir(dir)); err == nil || !strings.Contains(err.Error(), "link to a parent") {
		t.Errorf("got %v", err)
	}
}

// TestTheRevisionIsThatOfNamesAndBytes guarantees that trees with different names or bytes have different revisions.
// Files outside the tree do not count.
func TestTheRevisionIsThatOfNamesAndBytes(t *testing.T) {
	revision := func(tree policytest.Tree) string {
		s := must.Get(policies.Read(tree))(t)
		return s.Revision
	}
	small := policytest.Small(t)
	seen := []string{
		revision(small),
		revision(small.With("authz/authz.rego", policytest.SmallAuthz+"\n")),
		revision(small.With("authz/z.rego", policytest.SmallAuthz).Without("authz/authz.rego")),
	}
	if revision(small) != seen[0] || seen[0] == seen[1] || seen[1] == seen[2] || seen[0] == seen[2] {
		t.Errorf("got %q", seen)
	}
	if revision(small.With("README.md", "x").With(".hidden/data.json", "{").With("_x/y.rego", "x")) != seen[0] {
		t.Error("a file that isn't part of the tree changed its revision")
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(content), 0o600))
}

// TestLinksDoNotMultiplyATree guarantees that a small folder neither keeps a reader busy nor fills its memory: links lead
// to each folder, and to a large file, by many ways.
func TestLinksDoNotMultiplyATree(t *testing.T) {
	dir := t.TempDir()
	for depth := range 14 {
		next := filepath.Join(dir, ".way"+strconv.Itoa(depth))
		must.Do(t, os.Mkdir(next, 0o755))
		for _, name := range []string{"a", "b", "c"} {
			must.Do(t, os.Symlink("../.way"+strconv.Itoa(depth+1), filepath.Join(next, name)))
		}
	}
	must.Do(t, os.Mkdir(filepath.Join(dir, ".way14"), 0o755))
	must.Do(t, os.Symlink(".way0", filepath.Join(dir, "ways")))
	if _, err := policies.Read(policies.Dir(dir)); err == nil || !strings.Contains(err.Error(), "more than 4096 folders") {
		t.Error(err)
	}
	dir = t.TempDir()
	write(t, filepath.Join(dir, "data.json"), strings.Repeat(" ", 30<<20))
	for _, name := range []string{"a.json", "b.json"} {
		must.Do(t, os.Symlink("data.json", filepath.Join(dir, name)))
	}
	if _, err := policies.Read(policies.Dir(dir)); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Error(err)
	}
}

// TestALongTextOfRulesIsRefused guarantees that Read rejects more rules than OPA's parser has memory for. Tests count, data do not.
func TestALongTextOfRulesIsRefused(t *testing.T) {
	half := "package x\n#" + strings.Repeat(" ", policies.MaxRules/2)
	tree := policytest.Tree{}.With("x/x.rego", half).With("x/data.json", strings.Repeat(" ", policies.MaxRules))
	must.Get(policies.Read(tree))(t)
	if _, err := policies.Read(tree.With("x/x_test.rego", half)); err == nil || !strings.Contains(err.Error(), "x/x_test.rego: with this file the tree has more than 4 MiB of rules") {
		t.Error(err)
	}
}

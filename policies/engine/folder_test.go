package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// chmod sets rights whatever the umask.
func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	must(t, os.Chmod(name, mode))
}

// fails wants a tree to be refused within the time of any other, by a message with all these parts.
func fails(t *testing.T, tree fs.FS, parts ...string) {
	t.Helper()
	_, err := engine.Load(t.Context(), tree, engine.LoadOptions{})
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q in it", err, part)
		}
	}
}

// configMap is a folder as Kubernetes mounts one, whose rights let everybody write to it; swap gives it other
// contents at once.
func configMap(t *testing.T, tree testTree) (dir string, swap func(name string, tree testTree)) {
	t.Helper()
	dir = t.TempDir()
	swap = func(name string, tree testTree) {
		tree.write(t, filepath.Join(dir, name))
		must(t, os.Symlink(name, filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	swap("..2026_1", tree)
	for _, folder := range []string{"authz", "grants", "routes", "schemas"} {
		must(t, os.Symlink(filepath.Join("..data", folder), filepath.Join(dir, folder)))
	}
	chmod(t, dir, 0o777)
	return dir, swap
}

// TestAConfigMapIsReadWhereNobodyCanWriteToIt guarantees that the mounts of Kubernetes are taken: their rights let
// everybody write, and the mount nobody.
func TestAConfigMapIsReadWhereNobodyCanWriteToIt(t *testing.T) {
	dir, swap := configMap(t, smallTree(t))
	mounted := engine.DirMounted(dir, func(path string) bool { return path == dir })
	e := newEngine(t, smallTree(t), engine.Options{})
	must(t, e.Reload(t.Context(), mounted))
	swap("..2026_2", smallTree(t).with("authz/authz.rego", smallWith("second")))
	must(t, e.Reload(t.Context(), mounted))
	if d, err := e.Decide(t.Context(), question(adminSubject(), "account:user:read")); err != nil || d.Reason != "second" {
		t.Errorf("got %+v, %v", d, err)
	}
	fails(t, engine.Dir(dir), "every user of this machine can change "+dir, "chmod o-w", "read-only")
	chmod(t, filepath.Join(dir, "..2026_2", "authz"), 0o757)
	fails(t, mounted, "every user of this machine can change "+filepath.Join(dir, "..2026_2", "authz"))
}

// TestWhatOthersCanChangeIsNotRead guarantees that links are no way around the check: what is read is checked, and
// all on the way to it.
func TestWhatOthersCanChangeIsNotRead(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir, outside string) (tree, blamed string){
		"a file": func(t *testing.T, dir, _ string) (string, string) {
			chmod(t, filepath.Join(dir, "authz", "authz.rego"), 0o646)
			return dir, filepath.Join(dir, "authz", "authz.rego")
		},
		"a folder": func(t *testing.T, dir, _ string) (string, string) {
			chmod(t, filepath.Join(dir, "grants"), 0o757)
			return dir, filepath.Join(dir, "grants")
		},
		"a folder where they can add files": func(t *testing.T, dir, _ string) (string, string) {
			chmod(t, filepath.Join(dir, "authz"), 0o777|fs.ModeSticky)
			return dir, filepath.Join(dir, "authz")
		},
		"a file that is linked": func(t *testing.T, dir, outside string) (string, string) {
			write(t, filepath.Join(outside, "x"), "package authz\n")
			chmod(t, filepath.Join(outside, "x"), 0o602)
			must(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "authz", "x.rego")))
			return dir, filepath.Join(outside, "x")
		},
		"the folder of a file that is linked": func(t *testing.T, dir, outside string) (string, string) {
			write(t, filepath.Join(outside, "x"), "package authz\n")
			chmod(t, outside, 0o777)
			must(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "authz", "x.rego")))
			return dir, outside
		},
		"the folder of a link on the way": func(t *testing.T, dir, outside string) (string, string) {
			must(t, os.Symlink(filepath.Join(dir, "authz", "authz.rego"), filepath.Join(outside, "x")))
			chmod(t, outside, 0o777)
			must(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "authz", "x.rego")))
			return dir, outside
		},
		"what a link that is the tree leads to": func(t *testing.T, dir, outside string) (string, string) {
			chmod(t, dir, 0o777)
			must(t, os.Symlink(dir, filepath.Join(outside, "policies")))
			return filepath.Join(outside, "policies"), dir
		},
		"the folder of a link that is the tree": func(t *testing.T, dir, outside string) (string, string) {
			chmod(t, outside, 0o777)
			must(t, os.Symlink(dir, filepath.Join(outside, "policies")))
			return filepath.Join(outside, "policies"), outside
		},
		"the folder of the tree": func(t *testing.T, dir, outside string) (string, string) {
			must(t, os.Rename(dir, filepath.Join(outside, "policies")))
			chmod(t, outside, 0o777)
			return filepath.Join(outside, "policies"), outside
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			smallTree(t).write(t, dir)
			tree, blamed := change(t, dir, outside)
			fails(t, engine.Dir(tree), "every user of this machine can change "+blamed+",")
		})
	}
}

// TestLinksAreFollowed guarantees that a tree may be made of links, relative and absolute, in which others can
// change nothing; a folder such as /tmp, where others can't touch what isn't theirs, is fine on the way.
func TestLinksAreFollowed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	smallTree(t).write(t, dir)
	chmod(t, outside, 0o777|fs.ModeSticky)
	must(t, os.Rename(filepath.Join(dir, "authz"), filepath.Join(outside, "rules")))
	must(t, os.Symlink(filepath.Join(outside, "rules"), filepath.Join(dir, "authz")))
	must(t, os.Rename(filepath.Join(dir, "grants", "data.json"), filepath.Join(dir, "grants", ".roles")))
	must(t, os.Symlink(filepath.Join("..", "grants", ".", ".roles"), filepath.Join(dir, "grants", "data.json")))
	must(t, os.Symlink(dir, filepath.Join(outside, "policies")))
	set, err := engine.Load(t.Context(), engine.Dir(filepath.Join(outside, "policies")), engine.LoadOptions{})
	must(t, err)
	t.Chdir(outside)
	same, err := engine.Load(t.Context(), engine.Dir("./policies"), engine.LoadOptions{})
	must(t, err)
	if plain, err := engine.Load(t.Context(), smallTree(t), engine.LoadOptions{}); err != nil || set.Revision() != plain.Revision() || same.Revision() != plain.Revision() {
		t.Errorf("%q, %q, %v", set.Revision(), same.Revision(), err)
	}
}

// TestOnlyRegularFilesAreRead guarantees that nothing in a tree holds its reader up, and that the message names it.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string)
		says string
	}{
		"a named pipe": {func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) }, "is a named pipe; only regular files"},
		"a link to a pipe": {func(t *testing.T, path string) {
			must(t, syscall.Mkfifo(path+"-", 0o600))
			must(t, os.Symlink(path+"-", path))
		}, "x.rego- is a named pipe"},
		"a device":          {func(t *testing.T, path string) { must(t, os.Symlink("/dev/full", path)) }, "/dev/full"},
		"a link to nothing": {func(t *testing.T, path string) { must(t, os.Symlink("nothing", path)) }, "no such file"},
		"a link to itself":  {func(t *testing.T, path string) { must(t, os.Symlink(path, path)) }, "circle"},
		"links in a circle": {func(t *testing.T, path string) {
			must(t, os.Symlink(".x", path))
			must(t, os.Symlink("x.rego", filepath.Join(filepath.Dir(path), ".x")))
		}, "circle"},
	} {
		t.Run(name, func(t *testing.T) {
			w := watch(t, smallTree(t), nothing)
			path := filepath.Join(w.dir, "authz", "x.rego")
			c.put(t, path)
			if err := next(t, w.refused); !strings.Contains(err.Error(), "authz/x.rego: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q in it", err, c.says)
			}
			must(t, os.Remove(path))
			write(t, filepath.Join(w.dir, "authz", "authz.rego"), smallWith("later"))
			next(t, w.reloaded)
			if got := w.reason(t); got != "later" {
				t.Errorf("a later tree is not in force: %q", got)
			}
		})
	}
}

// TestASwapAfterTheCheckIsNotRead guarantees that what was opened is what was checked: a file that is swapped
// meanwhile for a pipe, a link or one that others can change is not read.
func TestASwapAfterTheCheckIsNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string)
		says string
	}{
		"a pipe":  {func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) }, "named pipe"},
		"a link":  {func(t *testing.T, path string) { must(t, os.Symlink("authz_test.rego", path)) }, "symbolic links"},
		"exposed": {func(t *testing.T, path string) { write(t, path, smallAuthz); chmod(t, path, 0o666) }, "can change"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			smallTree(t).write(t, dir)
			path := filepath.Join(dir, "authz", "authz.rego")
			chmod(t, path, 0o666) // so that it is asked whether anybody can write to it
			asked := 0
			tree := engine.DirMounted(dir, func(string) bool {
				if asked++; asked == 2 { // the first one is of the walk
					must(t, os.Remove(path))
					c.put(t, path)
				}
				return asked <= 2
			})
			fails(t, tree, "authz/authz.rego: ", c.says)
		})
	}
}

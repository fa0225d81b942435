package policies_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// chmod sets rights without regard to the umask.
func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	must.Do(t, os.Chmod(name, mode))
}

// fails checks that Read rejects a tree with all these parts in the error.
func fails(t *testing.T, tree fs.FS, parts ...string) {
	t.Helper()
	_, err := policies.Read(tree)
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q in it", err, part)
		}
	}
}

// configMap returns a folder as Kubernetes mounts a ConfigMap, with the right to write for everybody. swap replaces its
// contents in one step.
func configMap(t *testing.T, tree policytest.Tree) (dir string, swap func(name string, tree policytest.Tree)) {
	t.Helper()
	dir = t.TempDir()
	swap = func(name string, tree policytest.Tree) {
		tree.Write(t, filepath.Join(dir, name))
		must.Do(t, os.Symlink(name, filepath.Join(dir, "..data_tmp")))
		must.Do(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	swap("..2026_1", tree)
	for _, folder := range []string{"authz", "grants", "routes", "schemas"} {
		must.Do(t, os.Symlink(filepath.Join("..data", folder), filepath.Join(dir, folder)))
	}
	chmod(t, dir, 0o777)
	return dir, swap
}

// TestAConfigMapIsReadWhereNobodyCanWriteToIt guarantees that Read accepts the mounts of Kubernetes: their rights let
// everybody write, but the mount is read-only.
func TestAConfigMapIsReadWhereNobodyCanWriteToIt(t *testing.T) {
	dir, swap := configMap(t, policytest.Small(t))
	mounted := policies.DirMounted(dir, func(path string) bool { return path == dir })
	first := must.Get(policies.Read(mounted))(t)
	swap("..2026_2", policytest.Small(t).With("authz/authz.rego", "package authz"))
	second, err := policies.Read(mounted)
	if err != nil || string(second.Files["authz/authz.rego"]) != "package authz" || second.Revision == first.Revision {
		t.Errorf("got %q, %v", second.Files["authz/authz.rego"], err)
	}
	fails(t, policies.Dir(dir), "every user of this machine can change "+dir, "chmod o-w", "read-only")
	chmod(t, filepath.Join(dir, "..2026_2", "authz"), 0o757)
	fails(t, mounted, "every user of this machine can change "+filepath.Join(dir, "..2026_2", "authz"))
}

// TestWhatOthersCanChangeIsNotRead guarantees that Read rejects a tree if others can change a file, a folder or a link
// on the way to a file.
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
			must.Do(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "authz", "x.rego")))
			return dir, filepath.Join(outside, "x")
		},
		"the folder of a file that is linked": func(t *testing.T, dir, outside string) (string, string) {
			write(t, filepath.Join(outside, "x"), "package authz\n")
			chmod(t, outside, 0o777)
			must.Do(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "authz", "x.rego")))
			return dir, outside
		},
		"the folder of a link on the way": func(t *testing.T, dir, outside string) (string, string) {
			must.Do(t, os.Symlink(filepath.Join(dir, "authz", "authz.rego"), filepath.Join(outside, "x")))
			chmod(t, outside, 0o777)
			must.Do(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "authz", "x.rego")))
			return dir, outside
		},
		"what a link that is the tree leads to": func(t *testing.T, dir, outside string) (string, string) {
			chmod(t, dir, 0o777)
			must.Do(t, os.Symlink(dir, filepath.Join(outside, "policies")))
			return filepath.Join(outside, "policies"), dir
		},
		"the folder of a link that is the tree": func(t *testing.T, dir, outside string) (string, string) {
			chmod(t, outside, 0o777)
			must.Do(t, os.Symlink(dir, filepath.Join(outside, "policies")))
			return filepath.Join(outside, "policies"), outside
		},
		"the folder of the tree": func(t *testing.T, dir, outside string) (string, string) {
			must.Do(t, os.Rename(dir, filepath.Join(outside, "policies")))
			chmod(t, outside, 0o777)
			return filepath.Join(outside, "policies"), outside
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			policytest.Small(t).Write(t, dir)
			tree, blamed := change(t, dir, outside)
			fails(t, policies.Dir(tree), "every user of this machine can change "+blamed+",")
		})
	}
}

// TestLinksAreFollowed guarantees that a tree may have relative and absolute links. A sticky folder such as /tmp may be
// on the way.
func TestLinksAreFollowed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	policytest.Small(t).Write(t, dir)
	chmod(t, outside, 0o777|fs.ModeSticky)
	must.Do(t, os.Rename(filepath.Join(dir, "authz"), filepath.Join(outside, "rules")))
	must.Do(t, os.Symlink(filepath.Join(outside, "rules"), filepath.Join(dir, "authz")))
	must.Do(t, os.Rename(filepath.Join(dir, "grants", "data.json"), filepath.Join(dir, "grants", ".roles")))
	must.Do(t, os.Symlink(filepath.Join("..", "grants", ".", ".roles"), filepath.Join(dir, "grants", "data.json")))
	must.Do(t, os.Symlink(dir, filepath.Join(outside, "policies")))
	linked := must.Get(policies.Read(policies.Dir(filepath.Join(outside, "policies"))))(t)
	t.Chdir(outside)
	same := must.Get(policies.Read(policies.Dir("./policies")))(t)
	if plain, err := policies.Read(policytest.Small(t)); err != nil || linked.Revision != plain.Revision || same.Revision != plain.Revision {
		t.Errorf("%q, %q, %v", linked.Revision, same.Revision, err)
	}
}

// TestASwapAfterTheCheckIsNotRead guarantees that Read rejects a file swapped after its check for a pipe, a link or a
// file with the right to write for others.
func TestASwapAfterTheCheckIsNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string)
		says string
	}{
		"a pipe":  {func(t *testing.T, path string) { must.Do(t, syscall.Mkfifo(path, 0o600)) }, "named pipe"},
		"a link":  {func(t *testing.T, path string) { must.Do(t, os.Symlink("authz_test.rego", path)) }, "symbolic links"},
		"exposed": {func(t *testing.T, path string) { write(t, path, policytest.SmallAuthz); chmod(t, path, 0o666) }, "can change"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			policytest.Small(t).Write(t, dir)
			path := filepath.Join(dir, "authz", "authz.rego")
			chmod(t, path, 0o666) // so that the check calls readOnly
			asked := 0
			tree := policies.DirMounted(dir, func(string) bool {
				if asked++; asked == 2 { // walk makes the first call
					must.Do(t, os.Remove(path))
					c.put(t, path)
				}
				return asked <= 2
			})
			fails(t, tree, "authz/authz.rego: ", c.says)
		})
	}
}

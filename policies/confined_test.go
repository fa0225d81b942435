package policies_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestConfinedStaysInTheFolder guarantees that no name and no link leads out of a confined folder, while links inside of
// it are followed and a pipe does not block.
func TestConfinedStaysInTheFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "tree")
	for name, text := range map[string]string{"secret.json": `"secret"`, "tree/a/data.json": `1`} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o750))
		must.Do(t, os.WriteFile(filepath.Join(base, name), []byte(text), 0o600))
	}
	for link, target := range map[string]string{
		"in.json": "a/data.json", "b": "a", "up.json": "../secret.json", "whole.json": filepath.Join(base, "secret.json"), "out": "..", "loop": "loop",
		"absolute.json": filepath.Join(dir, "a", "data.json"),
	} {
		must.Do(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600))
	tree := must.Get(policies.Confine(dir))(t)
	t.Cleanup(func() { _ = tree.Close() })
	for _, name := range []string{"a/data.json", "in.json", "b/data.json"} {
		if raw, err := fs.ReadFile(tree, name); err != nil || string(raw) != "1" {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	for _, name := range []string{
		"up.json", "whole.json", "out", "out/secret.json", "../secret.json", "/etc/passwd", "a/../../secret.json", "loop", "pipe.json", "absolute.json", "", "a//data.json",
	} {
		if f, err := tree.Open(name); err == nil {
			raw, _ := io.ReadAll(f)
			t.Errorf("%q was opened: %q", name, raw)
		}
		if name == "pipe.json" {
			continue
		}
		if _, err := fs.Stat(tree, name); err == nil {
			t.Errorf("%q was described", name)
		}
	}
	if _, err := policies.Read(tree); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a tree with a link out of it: %v", err)
	}
	if _, err := policies.Confine(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent folder was opened")
	}
}

// TestConfinedNeverReadsASwappedFile guarantees it while somebody swaps a file for a link that leads out of the folder.
func TestConfinedNeverReadsASwappedFile(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "tree")
	must.Do(t, os.Mkdir(dir, 0o750))
	secret, file, next := filepath.Join(base, "secret.json"), filepath.Join(dir, "data.json"), filepath.Join(dir, ".next")
	must.Do(t, os.WriteFile(secret, []byte("secret"), 0o600))
	tree := must.Get(policies.Confine(dir))(t)
	t.Cleanup(func() { _ = tree.Close() })
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for turn := 0; ; turn++ {
			select {
			case <-stop:
				return
			default:
			}
			if turn%2 == 0 {
				_ = os.WriteFile(next, []byte("fine"), 0o600)
			} else {
				_ = os.Symlink(secret, next)
			}
			_ = os.Rename(next, file)
		}
	}()
	fine := 0
	for began, reads := time.Now(), 0; reads < 5000 || fine == 0 && time.Since(began) < 10*time.Second; reads++ {
		raw, err := fs.ReadFile(tree, "data.json")
		switch {
		case err != nil:
		case string(raw) == "fine":
			fine++
		default:
			t.Errorf("read %q", raw)
		}
	}
	close(stop)
	<-stopped
	if fine == 0 {
		t.Error("the file was never read")
	}
}

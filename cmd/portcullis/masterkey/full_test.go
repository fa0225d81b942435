package masterkey_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/test/child"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestAKeyIsCopiedWholeOrNotAtAll guarantees that a copy on a full disk leaves nothing in the folder: the next copy goes
// through. A repeat of a copy changes nothing, and another key is not overwritten.
func TestAKeyIsCopiedWholeOrNotAtAll(t *testing.T) {
	if !child.Runs(t) {
		return
	}
	source, target := masterkey.File{DataDir: t.TempDir()}, t.TempDir()
	must.Get(source.ReadOrMake())(t)
	child.LimitFiles(t, 10)
	err := source.CopyTo(target)
	child.LimitFiles(t, 1<<30)
	if entries := must.Get(os.ReadDir(target))(t); err == nil || len(entries) > 0 {
		t.Errorf("%v, and the folder has %v", err, entries)
	}
	for range 2 {
		must.Do(t, source.CopyTo(target))
	}
	want := must.Get(os.ReadFile(filepath.Join(source.DataDir, masterkey.FileName)))(t)
	if got := must.Get(os.ReadFile(filepath.Join(target, masterkey.FileName)))(t); string(got) != string(want) {
		t.Error("the copy differs")
	}
	other := masterkey.File{DataDir: t.TempDir()}
	must.Get(other.ReadOrMake())(t)
	if err := other.CopyTo(target); err == nil {
		t.Error("a key was overwritten")
	}
}

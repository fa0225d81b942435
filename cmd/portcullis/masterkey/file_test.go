package masterkey_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestMasterKeyIsMadeOnce, for the owner alone; of many who start at once all have the
// same one.
func TestMasterKeyIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	var wait sync.WaitGroup
	prints := make([]string, 20)
	for i := range prints {
		wait.Go(func() {
			m, err := masterkey.File{DataDir: dir}.ReadOrMake()
			if err != nil {
				t.Error(err)
				return
			}
			prints[i] = m.Fingerprints()[0]
		})
	}
	wait.Wait()
	for _, p := range prints {
		if p != prints[0] {
			t.Fatalf("%v", prints)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != masterkey.FileName {
		t.Fatalf("%v %v", entries, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, masterkey.FileName): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

// TestMasterKeyThatIsNotThereIsNotMade where the file was named, or nothing is to be made.
func TestMasterKeyThatIsNotThereIsNotMade(t *testing.T) {
	dir := t.TempDir()
	for name, read := range map[string]func() (resources.MasterKey, error){
		"named":             masterkey.File{DataDir: dir, Path: filepath.Join(dir, "my.key")}.ReadOrMake,
		"asked for a token": masterkey.File{DataDir: dir}.Read,
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), "master key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestMasterKeyThatOthersCanReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := masterkey.File{DataDir: dir}
	if _, err := file.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, masterkey.FileName)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if m, err := file.ReadOrMake(); err == nil || len(m.Derive(resources.PurposeSigning)) != 0 || !strings.Contains(err.Error(), path) {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

// TestMasterKeyThatIsNoneIsNamed with its file, once, and what is wrong with it.
func TestMasterKeyThatIsNoneIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("# of the office\nno-key!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (masterkey.File{Path: path}).Read(); err == nil || err.Error() != "master key: "+path+": line 2 is not base64" {
		t.Error(err)
	}
}

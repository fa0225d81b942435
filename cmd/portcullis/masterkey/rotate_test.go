package masterkey_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
)

// prints returns the fingerprints of a file's keys.
func prints(t *testing.T, f masterkey.File) []string {
	t.Helper()
	m, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	return m.Fingerprints()
}

// TestRotationKeepsOlderKeys, comments and the file's mode; a new key is first or last as asked, and Use
// moves the last one in front.
func TestRotationKeepsOlderKeys(t *testing.T) {
	f := masterkey.File{DataDir: t.TempDir()}
	if _, err := f.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.DataDir, masterkey.FileName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("# of the office\n\n"), raw...), 0o600); err != nil {
		t.Fatal(err)
	}
	first := prints(t, f)[0]
	front, err := f.Add(masterkey.First)
	if err != nil {
		t.Fatal(err)
	}
	back, err := f.Add(masterkey.Last)
	if err != nil {
		t.Fatal(err)
	}
	if got := prints(t, f); !slices.Equal(got, []string{front, first, back}) {
		t.Errorf("%v, want %v", got, []string{front, first, back})
	}
	if used, err := f.Use(); err != nil || used != back || !slices.Equal(prints(t, f), []string{back, front, first}) {
		t.Errorf("%s %v %v", used, err, prints(t, f))
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "# of the office\n\n") {
		t.Errorf("%v %q", err, text[:20])
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if entries, err := os.ReadDir(f.DataDir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// TestRotationsAtOnceAllCount, or are refused: none takes the key of another one out of the file, whether first or last, and
// what a killed one had left is removed and told of.
func TestRotationsAtOnceAllCount(t *testing.T) {
	var mu sync.Mutex
	var swept []string
	f := masterkey.File{DataDir: t.TempDir(), Swept: func(path string) {
		mu.Lock()
		defer mu.Unlock()
		swept = append(swept, path)
	}}
	if _, err := f.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(f.DataDir, ".portcullis-store-1")
	if err := errors.Join(os.Mkdir(killed, 0o700), os.WriteFile(filepath.Join(killed, "lock"), nil, 0o600),
		os.WriteFile(filepath.Join(killed, masterkey.FileName), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	want := prints(t, f)
	var rotations sync.WaitGroup
	for n := range 12 {
		rotations.Go(func() {
			made, err := f.Add(masterkey.Place(n%2 == 0))
			if errors.Is(err, scratch.ErrTaken) { // it has waited too long, on a slow machine
				return
			}
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			want = append(want, made)
		})
	}
	rotations.Wait()
	got := prints(t, f)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d keys are in the file, want %d", len(got), len(want))
	}
	if !slices.Equal(swept, []string{killed}) {
		t.Errorf("told of %q", swept)
	}
	if all, err := os.ReadDir(f.DataDir); err != nil || len(all) != 1 {
		t.Errorf("left behind: %v %v", all, err)
	}
}

// TestRotationOfNothing: no file is made, and a single key can't be moved.
func TestRotationOfNothing(t *testing.T) {
	f := masterkey.File{DataDir: t.TempDir()}
	if _, err := f.Add(masterkey.First); err == nil {
		t.Error("a key was added to no file")
	}
	if entries, err := os.ReadDir(f.DataDir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	if _, err := f.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Use(); err == nil || !strings.Contains(err.Error(), "keys rotate") {
		t.Errorf("%v", err)
	}
}

// TestRotationKeepsTheOwner guarantees that the owner can still read the file when the gateway starts again. Root, the
// user of CI, rotates another user's file; nobody else can.
func TestRotationKeepsTheOwner(t *testing.T) {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		uid, gid = 65532, 65533
	}
	f := masterkey.File{DataDir: t.TempDir()}
	if _, err := f.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.DataDir, masterkey.FileName)
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(masterkey.First); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if stat := info.Sys().(*syscall.Stat_t); int(stat.Uid) != uid || int(stat.Gid) != gid {
		t.Errorf("it is of user %d and group %d", stat.Uid, stat.Gid)
	}
}

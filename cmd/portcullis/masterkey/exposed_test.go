package masterkey

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// stated is a file of an owner.
type stated struct {
	fs.FileInfo
	mode  fs.FileMode
	owner uint32
}

func (s stated) Mode() fs.FileMode { return s.mode }
func (s stated) Sys() any          { return &syscall.Stat_t{Uid: s.owner} }

// TestMountedKeyMayBeReadByItsGroup, which root has chosen, and by nobody else.
func TestMountedKeyMayBeReadByItsGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode    fs.FileMode
		owner   uint32
		user    int
		exposed bool
	}{
		{0o600, 1000, 1000, false},
		{0o400, 0, 0, false},
		{0o440, 0, 65532, false},
		{0o440, 0, 0, true},
		{0o440, 65532, 65532, true},
		{0o440, 1000, 65532, true},
		{0o444, 0, 65532, true},
		{0o460, 0, 65532, true},
		{0o450, 0, 65532, true},
		{0o404, 0, 65532, true},
	} {
		if got := exposed(stated{info, c.mode, c.owner}, c.user); got != c.exposed {
			t.Errorf("%o of user %d, read by %d: exposed %t", c.mode, c.owner, c.user, got)
		}
	}
}

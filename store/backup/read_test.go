package backup_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/portcullis-authz/portcullis/store/backup"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestASparseBackupIsRefused before it fills the disk: a few bytes of it can stand for a database of any size.
func TestASparseBackupIsRefused(t *testing.T) {
	const size = 8 << 20
	text, err := json.Marshal(backup.Manifest{Format: 1, Database: backup.Database{Size: size, SHA256: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err = w.WriteHeader(&tar.Header{Name: "manifest.json", Mode: 0o600, Size: int64(len(text))})
	_, writeErr := w.Write(text)
	sum := fmt.Appendf(nil, "%x  manifest.json\n", sha256.Sum256(text))
	err = errors.Join(err, writeErr, w.WriteHeader(&tar.Header{Name: "manifest.json.sha256", Mode: 0o600, Size: int64(len(sum))}))
	_, writeErr = w.Write(sum)
	// The writer makes no sparse files, so the names of their records are put in behind it.
	err = errors.Join(err, writeErr, w.WriteHeader(&tar.Header{Name: "portcullis.db", Mode: 0o600, Typeflag: tar.TypeReg, PAXRecords: map[string]string{
		"GNU_sparse.major": "0", "GNU_sparse.minor": "1", "GNU_sparse.numblocks": "1",
		"GNU_sparse.map": fmt.Sprintf("%d,0", size), "GNU_sparse.size": fmt.Sprint(size),
	}}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	file, dir := filepath.Join(t.TempDir(), "b"), t.TempDir()
	must.Do(t, os.WriteFile(file, bytes.ReplaceAll(out.Bytes(), []byte("GNU_sparse"), []byte("GNU.sparse")), 0o600))
	// The database is not read: its target folder does not exist.
	if _, _, err := backup.Read(file, filepath.Join(dir, "absent")); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("not refused before it is written: %v", err)
	}
}

// TestEachByteOfTheManifestCounts: whichever is changed, nothing of the backup is used.
func TestEachByteOfTheManifestCounts(t *testing.T) {
	dir := t.TempDir()
	database, file := filepath.Join(dir, "database"), filepath.Join(dir, "backup")
	must.Do(t, os.WriteFile(database, []byte("all that is kept"), 0o600))
	must.Get(backup.Write(file, t.TempDir(), database, backup.Manifest{Version: "v1", Generation: "g", Epoch: 7}))(t)
	good := must.Get(os.ReadFile(file))(t)
	if _, _, err := backup.Read(file, dir); err != nil {
		t.Fatal(err)
	}
	start, end := bytes.IndexByte(good, '{'), bytes.LastIndexByte(good, '}')
	if start < 0 || end-start < 100 {
		t.Fatalf("no manifest from %d to %d", start, end)
	}
	for index := start; index <= end; index++ {
		bad := bytes.Clone(good)
		bad[index] ^= 1
		must.Do(t, os.WriteFile(file, bad, 0o600))
		if _, _, err := backup.Read(file, dir); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("byte %d of the manifest: %v", index-start, err)
		}
	}
}

// TestNothingStandsBehindTheDatabase guarantees that a member or bytes without a sum in the manifest are refused. A
// folder is not a backup, and not a damaged one.
func TestNothingStandsBehindTheDatabase(t *testing.T) {
	dir := t.TempDir()
	database, file := filepath.Join(dir, "database"), filepath.Join(dir, "good")
	must.Do(t, os.WriteFile(database, []byte("all that is kept"), 0o600))
	must.Get(backup.Write(file, t.TempDir(), database, backup.Manifest{Version: "v1", Generation: "g", Epoch: 7}))(t)
	good := must.Get(os.ReadFile(file))(t)
	var more bytes.Buffer
	w := tar.NewWriter(&more)
	must.Do(t, errors.Join(w.WriteHeader(&tar.Header{Name: "master.key", Mode: 0o600}), w.Close()))
	const end = 1024 // two blocks of zeros
	for name, bad := range map[string][]byte{
		"a member": append(bytes.Clone(good[:len(good)-end]), more.Bytes()...), "a member behind the end": append(bytes.Clone(good), more.Bytes()...),
		"bytes": append(bytes.Clone(good), "junk"...), "zeros": append(bytes.Clone(good), make([]byte, 512)...),
	} {
		file, folder := filepath.Join(dir, "bad"), t.TempDir()
		must.Do(t, os.WriteFile(file, bad, 0o600))
		if _, _, err := backup.Read(file, folder); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if rest, err := os.ReadDir(folder); err != nil || len(rest) > 0 {
			t.Errorf("%s: left behind: %v %v", name, rest, err)
		}
	}
	if _, _, err := backup.Read(dir, dir); err == nil || errors.Is(err, backup.ErrDamaged) {
		t.Errorf("a folder: %v", err)
	}
}

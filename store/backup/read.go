package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Errors of Read; compare with errors.Is.
var (
	// ErrDamaged refuses a file other than a backup, and a changed one.
	ErrDamaged = errors.New("damaged, or no backup")
	// ErrNewer is the error of a backup whose layout a newer release has made.
	ErrNewer = errors.New("written by a newer release")
)

// maxManifest bounds the manifest, in bytes.
const maxManifest = 1 << 20

// Read writes the database of a backup into a new file in the folder dir, and checks it against the manifest.
// If it does not fit, Read removes the file again.
func Read(path, dir string) (m Manifest, database string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Manifest{}, "", err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return Manifest{}, "", errors.Join(err, fmt.Errorf("%s is a folder, and no backup", path))
	}
	reader := tar.NewReader(f)
	if m, err = readManifest(reader); err != nil {
		return Manifest{}, "", fmt.Errorf("%s: %w", path, err)
	}
	if database, err = extract(reader, m, dir); err != nil {
		return Manifest{}, "", fmt.Errorf("%s: %w", path, err)
	}
	if err := ended(reader, f); err != nil {
		return Manifest{}, "", errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(database))
	}
	return m, database, nil
}

// readManifest reads the manifest and checks its sum. The error is ErrNewer for a form that a later release wrote.
func readManifest(reader *tar.Reader) (m Manifest, err error) {
	text, err := readText(reader, manifestName)
	if err != nil {
		return Manifest{}, err
	}
	sum, err := readText(reader, sumName)
	if err != nil {
		return Manifest{}, err
	}
	if !bytes.Equal(sum, sumOf(text)) {
		return Manifest{}, fmt.Errorf("the manifest is not the one that was written, by its SHA-256: %w", ErrDamaged)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, fmt.Errorf("the manifest is %w: %w", ErrDamaged, err)
	}
	switch {
	case m.Format > format:
		return Manifest{}, fmt.Errorf("%w: its format is %d, known is %d", ErrNewer, m.Format, format)
	case m.Format < 1 || m.Database.Size <= 0:
		return Manifest{}, ErrDamaged
	}
	return m, nil
}

// readText reads the next member and checks its name.
func readText(reader *tar.Reader, name string) ([]byte, error) {
	head, err := reader.Next()
	if err != nil || head.Name != name || head.Size > maxManifest || sparse(head) {
		return nil, ErrDamaged
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("%s is %w: %w", name, ErrDamaged, err)
	}
	return text, nil
}

// extract writes the database of a backup to a new file in the folder, and checks its size and sum.
func extract(reader *tar.Reader, m Manifest, dir string) (database string, err error) {
	head, err := reader.Next()
	if err != nil || head.Name != databaseName || head.Size != m.Database.Size || sparse(head) {
		return "", fmt.Errorf("it has no database of the size in its manifest: %w", ErrDamaged)
	}
	f, err := os.CreateTemp(dir, databaseName+".*") // 0600
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), reader)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the file ends too soon: %w", ErrDamaged)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != m.Database.SHA256 {
		err = fmt.Errorf("the database is not the one of the manifest, by its SHA-256: %w", ErrDamaged)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return filepath.Clean(f.Name()), nil
}

// ended returns an error for anything behind the database: Write has not written it, and it has no sum.
func ended(reader *tar.Reader, f io.Reader) error {
	_, err := reader.Next()
	if errors.Is(err, io.EOF) {
		var rest int64
		if rest, err = io.Copy(io.Discard, f); err == nil && rest == 0 {
			return nil
		}
	}
	return fmt.Errorf("something stands behind its database: %w", errors.Join(ErrDamaged, err))
}

// sparse says whether a member may be larger than what is in the file of it, which would fill the disk. Write makes none.
func sparse(head *tar.Header) bool {
	if head.Typeflag != tar.TypeReg {
		return true
	}
	for name := range head.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

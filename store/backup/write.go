package backup

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/portcullis-authz/portcullis/resources/durable"
)

// Write makes the backup file path, for the owner alone, of a database file. It is whole from the first instant, takes the
// place of no file, and is not there where Write fails. It is made in the folder work, on the same disk, which the
// caller removes. Write returns the manifest that it has written.
func Write(path, work, database string, m Manifest) (Manifest, error) {
	d, err := describe(database)
	if err != nil {
		return Manifest{}, err
	}
	m.Format, m.Database = format, d
	f, err := os.OpenFile(filepath.Join(work, "backup"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Manifest{}, err
	}
	if err := errors.Join(write(f, database, m), f.Sync(), f.Close()); err != nil {
		return Manifest{}, err
	}
	// A link, unlike a rename, never takes the place of a file.
	if err := os.Link(f.Name(), path); err != nil {
		return Manifest{}, err
	}
	return m, durable.SyncDir(filepath.Dir(path))
}

// write writes the archive: the manifest, its checksum and the database. After an error the archive is incomplete.
func write(w io.Writer, database string, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, part := range []struct {
		name string
		text []byte
	}{{manifestName, text}, {sumName, sumOf(text)}} {
		if err := out.WriteHeader(&tar.Header{Name: part.name, Mode: 0o600, Size: int64(len(part.text)), ModTime: m.MadeAt}); err != nil {
			return err
		}
		if _, err := out.Write(part.text); err != nil {
			return err
		}
	}
	head := tar.Header{Name: databaseName, Mode: 0o600, Size: m.Database.Size, ModTime: m.MadeAt}
	if err := out.WriteHeader(&head); err != nil {
		return err
	}
	f, err := os.Open(database)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	n, err := io.Copy(out, f)
	switch {
	case errors.Is(err, tar.ErrWriteTooLong), err == nil && n != m.Database.Size: // longer or shorter than the manifest says
		return errors.New("the database file changed while it was read")
	case err != nil:
		return err
	}
	return out.Close()
}

package harness

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Bundle is an OPA bundle of a policy folder, without its schemas as `opa build` makes it.
func Bundle(t testing.TB, dir, revision string) []byte {
	t.Helper()
	manifest, err := json.Marshal(map[string]any{"revision": revision, "roots": []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	add := func(name string, text []byte) error {
		err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o600})
		_, writing := w.Write(text)
		return errors.Join(err, writing)
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "schemas/") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(dir), name)
		return errors.Join(err, add(name, text))
	})
	if err = errors.Join(err, add(".manifest", manifest), w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

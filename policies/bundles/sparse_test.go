package bundles_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"testing"
)

// sparse is an archive of sparse files of the given size, without their content. The archive's writer makes no such
// files, so sparse patches the names of their records in afterwards.
func sparse(t *testing.T, files, size int) []byte {
	t.Helper()
	var plain, zipped bytes.Buffer
	w, z := tar.NewWriter(&plain), gzip.NewWriter(&zipped)
	for i := range files {
		err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("/f%d/data.json", i), Typeflag: tar.TypeReg, Mode: 0o600, PAXRecords: map[string]string{
			"GNU_sparse.major": "0", "GNU_sparse.minor": "1", "GNU_sparse.numblocks": "1",
			"GNU_sparse.map": fmt.Sprintf("%d,0", size), "GNU_sparse.size": fmt.Sprint(size),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := z.Write(bytes.ReplaceAll(plain.Bytes(), []byte("GNU_sparse"), []byte("GNU.sparse")))
	if err = errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return zipped.Bytes()
}

// TestASparseArchiveIsRefused: a few bytes can stand for more than the bound of all files.
func TestASparseArchiveIsRefused(t *testing.T) {
	raw := sparse(t, 3, maxFile)
	if len(raw) > 2<<10 {
		t.Errorf("%d bytes are sent", len(raw))
	}
	expect(t, raw, nil, "is larger than 64 MiB")
}

// maxFile is the bound of one file.
const maxFile = 32 << 20

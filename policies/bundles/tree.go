package bundles

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
)

// Embedded names the tree of the binary.
const Embedded = "embedded"

// ReadTree reads the tree that an author names: a folder, the file of a bundle, or Embedded. Of a key only a bundle is
// taken: nothing else is signed.
func ReadTree(where string, key *Key) (*policies.Source, error) {
	if where == Embedded {
		if key != nil {
			return nil, errNotSigned(where)
		}
		return policies.Read(policies.Tree())
	}
	info, err := os.Stat(where)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a folder nor a bundle that can be read", where)
	}
	if info.IsDir() {
		if key != nil {
			return nil, errNotSigned(where)
		}
		return overlay.Read(policies.Dir(where))
	}
	raw, err := ReadFile(where)
	if err != nil {
		return nil, err
	}
	return Open(raw, key)
}

func errNotSigned(where string) error {
	return fmt.Errorf("--policy-bundle-key is for a bundle, and %s is none: name the bundle, or leave the key out", where)
}

// ReadFile reads the file of a bundle, or of its key, as policies.Dir reads files: a regular one that not every user of
// the machine could change.
func ReadFile(name string) ([]byte, error) {
	f, err := policies.Dir(filepath.Dir(name)).Open(filepath.Base(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return Limited(f)
}

// Limited reads all of a bundle, and refuses one that is too large.
func Limited(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err == nil && len(raw) > MaxSize {
		return nil, fmt.Errorf("policy bundle: %w", tooLarge())
	}
	return raw, err
}

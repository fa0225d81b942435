package overlay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/portcullis-authz/portcullis/policies"
)

const (
	// maxUnpacked bounds a packed tree once it is unpacked, in bytes.
	maxUnpacked = 256 << 20
	// maxPacked bounds a packed tree in bytes. A record of MongoDB has at most 16 MiB, and the tree takes a third more
	// in it.
	maxPacked = 11 << 20
)

// packed is the form of a packed tree.
type packed struct {
	Base  string            `json:"base"`
	Files map[string][]byte `json:"files"`
}

// Pack returns a merged tree in one piece for Unpack. Merge refuses a tree too large for the store.
func Pack(tree *policies.Source) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if err := json.NewEncoder(zip).Encode(packed{tree.Base, tree.Files}); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Unpack returns a packed tree. The error says what is wrong with the bytes.
func Unpack(raw []byte) (*policies.Source, error) {
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("packed tree: %w", err)
	}
	var p packed
	if err := json.NewDecoder(io.LimitReader(zip, maxUnpacked)).Decode(&p); err != nil {
		return nil, fmt.Errorf("packed tree: %w", err)
	}
	tree := policies.FromBundle(p.Files, "")
	tree.Base = p.Base
	return tree, nil
}

package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/portcullis-authz/portcullis/policies"
)

// keptFile has the merged tree that was in force last.
const keptFile = "policy-in-force.json"

// kept is its form.
type kept struct {
	Base  string            `json:"base"`
	Files map[string][]byte `json:"files"`
}

// Keep writes the tree in force into the data folder, where the next start finds it. A reader sees the old one or the new one.
func Keep(dir string, tree *policies.Source) error {
	text, err := json.Marshal(kept{tree.Base, tree.Files})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // a gateway on a database has none yet
		return err
	}
	file, err := os.CreateTemp(dir, keptFile+"-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, keptFile))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the first error is the one to return
	}
	return err
}

// Kept reads the tree that was in force last. The error is fs.ErrNotExist where none was kept.
func Kept(dir string) (*policies.Source, error) {
	text, err := os.ReadFile(filepath.Join(dir, keptFile))
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", keptFile, err)
	}
	tree := policies.FromBundle(k.Files, "")
	tree.Base = k.Base
	return tree, nil
}

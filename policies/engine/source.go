package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of a tree: what is larger is a mistake, such as the wrong folder. The predefined
// roles of a large cloud, 165,000 grants, are 9 MB of JSON.
const (
	maxDepth    = 16
	maxFiles    = 4096
	maxFileSize = 32 << 20
)

const schemaFolder = "schemas/"

// source is the bytes of a tree, read once: what is hashed is what is compiled.
type source struct {
	files    map[string][]byte
	names    []string // sorted
	stamps   *stamps
	revision string
}

// readSource reads the tree's files. Links are followed (folder.go), since that is how a
// ConfigMap is mounted; names that begin with "." or "_" are skipped, as go:embed does.
func readSource(fsys fs.FS) (*source, error) {
	s := &source{files: map[string][]byte{}, stamps: &stamps{map[string]fs.FileInfo{}, time.Now()}}
	err := walk(fsys, ".", 0, func(name string, info fs.FileInfo) error {
		s.stamps.files[name] = info
		return s.read(fsys, name)
	})
	if err != nil {
		return nil, Problems{oneLine("policy tree: " + err.Error())}
	}
	s.names = slices.Sorted(maps.Keys(s.files))
	s.revision = s.hash()
	return s, nil
}

// walk calls each for the tree's files.
func walk(fsys fs.FS, folder string, depth int, each func(name string, info fs.FileInfo) error) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: folders are nested deeper than %d; is there a link to a parent folder?", folder, maxDepth)
	}
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_") {
			continue
		}
		name := path.Join(folder, entry.Name())
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return err
		}
		if info.IsDir() {
			if err := walk(fsys, name, depth+1, each); err != nil {
				return err
			}
		} else if belongs(name) {
			if err := each(name, info); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *source) read(fsys fs.FS, name string) error {
	if len(s.files) == maxFiles {
		return fmt.Errorf("more than %d files; is this the right folder?", maxFiles)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	b, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return err
	}
	if len(b) > maxFileSize {
		return fmt.Errorf("%s: larger than %d bytes", name, maxFileSize)
	}
	s.files[name] = b
	return nil
}

// hash names the tree: names and contents, each with its length before it, so that
// no two trees run together.
func (s *source) hash() string {
	h := sha256.New()
	for _, name := range s.names {
		for _, part := range [][]byte{[]byte(name), s.files[name]} {
			_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash takes every write
			_, _ = h.Write(part)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// belongs says whether a file is part of the tree at all. JSON and YAML that OPA's
// own commands would read as data are, so that they can be refused by name.
func belongs(name string) bool {
	switch path.Ext(name) {
	case ".rego", ".json", ".yaml", ".yml":
		return true
	}
	return false
}

func isTest(name string) bool   { return strings.HasSuffix(name, "_test.rego") }
func isModule(name string) bool { return strings.HasSuffix(name, ".rego") }
func isSchema(name string) bool {
	return strings.HasPrefix(name, schemaFolder) && strings.HasSuffix(name, ".json")
}

func isData(name string) bool {
	return path.Base(name) == "data.json" && !strings.HasPrefix(name, schemaFolder)
}

package policies

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
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

// settledAfter is how much older than its reading a file must be for its time to say
// whether it is the same still: files written within one tick of the file system's
// clock have one time, and the coarsest of these clocks ticks every two seconds.
const settledAfter = 2 * time.Second

// Source is the files of a tree, read once: what is hashed is what is compiled.
type Source struct {
	// Files are the contents by name; Names are the names, sorted.
	Files map[string][]byte
	Names []string
	// Revision names the tree: a hash over its files' names and bytes, and over Bundle.
	Revision string
	// Bundle is the revision that the manifest of a bundle gives; empty for a tree that came in another way.
	Bundle string
	// Base is the revision of an overlay's base, Own that of the overlay alone; both are empty for a whole tree.
	Base, Own string
	// Warnings are of what an overlay replaces and its base has changed since.
	Warnings []string
	// Issued is when a signed bundle says that it was signed, in Unix seconds; 0 where nothing says it.
	Issued int64
	// infos are the files as they were just before they were read, began is when the reading began.
	infos map[string]fs.FileInfo
	began time.Time
}

// BaseMark begins the name of a file that an overlay's tree has of its base.
const BaseMark = "base:"

// Place returns where a file lies in its tree, whether it is the overlay's or the base's.
func Place(name string) string { return strings.TrimPrefix(name, BaseMark) }

// File returns the file at a place: the overlay's, else the base's; nil if there is none.
func (s *Source) File(place string) []byte {
	if text := s.Files[place]; text != nil {
		return text
	}
	return s.Files[BaseMark+place]
}

// Merged returns the tree of these files, which came of the source: what is Unchanged is the source's folder.
func (s *Source) Merged(files map[string][]byte, base string, warnings []string) *Source {
	out := *s
	out.Files, out.Base, out.Warnings = files, base, warnings
	if out.name(); base != "" {
		out.Own = s.Revision
	}
	return &out
}

// Read reads the tree's files. Links are followed, since that is how a ConfigMap is mounted;
// names that begin with "." or "_" are skipped, as go:embed does.
func Read(tree fs.FS) (*Source, error) {
	s := &Source{Files: map[string][]byte{}, infos: map[string]fs.FileInfo{}, began: time.Now()}
	err := walk(tree, ".", 0, func(name string, info fs.FileInfo) error {
		s.infos[name] = info
		return s.read(tree, name)
	})
	if err != nil {
		return nil, fmt.Errorf("policy tree: %w", err)
	}
	s.name()
	return s, nil
}

// FromBundle returns the tree of these files, with the revision of the bundle in which they came; "" of no bundle.
func FromBundle(files map[string][]byte, revision string) *Source {
	s := &Source{Files: files, Bundle: revision}
	s.name()
	return s
}

func (s *Source) name() {
	s.Names = slices.Sorted(maps.Keys(s.Files))
	s.Revision = s.hash()
}

// walk calls each for the tree's files.
func walk(tree fs.FS, folder string, depth int, each func(name string, info fs.FileInfo) error) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: folders are nested deeper than %d; is there a link to a parent folder?", folder, maxDepth)
	}
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_") {
			continue
		}
		name := path.Join(folder, entry.Name())
		info, err := fs.Stat(tree, name)
		if err != nil {
			return err
		}
		if info.IsDir() {
			if err := walk(tree, name, depth+1, each); err != nil {
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

// read adds a file to the source, if there is room for it.
func (s *Source) read(tree fs.FS, name string) error {
	if len(s.Files) == maxFiles {
		return fmt.Errorf("more than %d files; is this the right folder?", maxFiles)
	}
	f, err := tree.Open(name)
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
	s.Files[name] = b
	return nil
}

// hash returns a hash over names and contents, each with its length before it, so that no two trees run together.
func (s *Source) hash() string {
	h := sha256.New()
	for _, name := range s.Names {
		for _, part := range [][]byte{[]byte(name), s.Files[name]} {
			_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash takes every write
			_, _ = h.Write(part)
		}
	}
	_, _ = io.WriteString(h, s.Bundle)
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// belongs says whether a file is part of the tree. JSON and YAML that OPA's own commands
// would read as data are, so that they can be refused by name.
func belongs(name string) bool {
	switch path.Ext(name) {
	case ".rego", ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// Unchanged says whether the files are those that were read, as far as can be told
// without reading them: the very same ones, of the same size and time. A large tree that
// is read several times a second would be a load of its own.
func (s *Source) Unchanged(tree fs.FS) bool {
	seen := 0
	err := walk(tree, ".", 0, func(name string, info fs.FileInfo) error {
		seen++
		was := s.infos[name]
		if was == nil || !os.SameFile(was, info) || was.Size() != info.Size() || !was.ModTime().Equal(info.ModTime()) ||
			!info.ModTime().Before(s.began.Add(-settledAfter)) {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && seen == len(s.infos)
}

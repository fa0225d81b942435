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

// Bounds of a tree. A larger one is probably the wrong folder: the predefined roles of a large cloud, 165,000 grants,
// are 9 MB of JSON.
const (
	maxDepth    = 16
	maxFolders  = 4096
	maxFiles    = 4096
	maxFileSize = 32 << 20
	maxSize     = 64 << 20 // as of a bundle
	// MaxRules bounds the text of all modules, in bytes: OPA's parser takes more than a hundred times
	// the memory of a text.
	MaxRules = 4 << 20
)

// settledAfter is the age of a file, when it is read, from which its time shows later changes. Files written within one
// tick of the file system's clock have the same time, and the coarsest of these clocks ticks every two seconds.
const settledAfter = 2 * time.Second

// Source has the files of a tree, read once, so that the revision is of the compiled bytes.
type Source struct {
	// Files are the contents by name; Names are the names, sorted.
	Files map[string][]byte
	Names []string
	// Revision names the tree: a hash over its files' names and bytes, and over Bundle.
	Revision string
	// Bundle is the revision in the manifest of a bundle; empty for other trees.
	Bundle string
	// Base is the revision of an overlay's base, Own the revision of the overlay alone. Both are empty for a whole
	// tree.
	Base, Own string
	// Warnings name the replaced files of an overlay if its base has changed them since, and the names that begin with "_".
	Warnings []string
	// Issued is the time of signing in a signed bundle, in Unix seconds; 0 without one.
	Issued int64
	// infos are of the files just before they were read. began is the beginning of the reading.
	infos map[string]fs.FileInfo
	began time.Time
	// size counts the bytes of all files that were read, rules those of modules.
	size, rules int
}

// BaseMark is the prefix of files from an overlay's base.
const BaseMark = "base:"

// Place returns the path of a file in its tree, in the overlay or in the base.
func Place(name string) string { return strings.TrimPrefix(name, BaseMark) }

// File returns the file at a place: from the overlay, or else from the base; nil if neither has it.
func (s *Source) File(place string) []byte {
	if text := s.Files[place]; text != nil {
		return text
	}
	return s.Files[BaseMark+place]
}

// Merged returns an overlay's tree with the files of its base. Unchanged of the result compares the folder of the
// overlay.
func (s *Source) Merged(files map[string][]byte, base string, warnings []string) *Source {
	out := *s
	out.Files, out.Base, out.Warnings = files, base, slices.Concat(s.Warnings, warnings)
	if out.name(); base != "" {
		out.Own = s.Revision
	}
	return &out
}

// Read reads the tree's files. It follows links, since Kubernetes mounts a ConfigMap with them. It skips names that
// begin with "." or "_", as go:embed does. It warns of the latter: OPA's commands read them.
func Read(tree fs.FS) (*Source, error) {
	s := &Source{Files: map[string][]byte{}, infos: map[string]fs.FileInfo{}, began: time.Now()}
	err := walk(tree, func(name string, info fs.FileInfo) error {
		s.infos[name] = info
		return s.read(tree, name)
	}, func(name string) {
		s.Warnings = append(s.Warnings, name+": isn't read, since its name begins with _, and OPA's commands read it: give it another name, or take it out")
	})
	if err != nil {
		return nil, fmt.Errorf("policy tree: %w", err)
	}
	s.name()
	return s, nil
}

// FromBundle returns the tree of these files, with the revision in the manifest of their bundle, "" without one.
func FromBundle(files map[string][]byte, revision string) *Source {
	s := &Source{Files: files, Bundle: revision}
	s.name()
	return s
}

func (s *Source) name() {
	s.Names = slices.Sorted(maps.Keys(s.Files))
	s.Revision = s.hash()
}

// walk calls each with the files of the tree, and skipped with the names that begin with "_".
func walk(tree fs.FS, each func(name string, info fs.FileInfo) error, skipped func(name string)) error {
	w := walking{tree: tree, each: each, skipped: skipped}
	return w.enter(".", 0)
}

// walking is a walk through a tree. Links can lead to one folder by many ways, so it counts the folders.
type walking struct {
	tree    fs.FS
	each    func(name string, info fs.FileInfo) error
	skipped func(name string)
	folders int
}

func (w *walking) enter(folder string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: folders are nested deeper than %d; is there a link to a parent folder?", folder, maxDepth)
	}
	if w.folders++; w.folders > maxFolders {
		return fmt.Errorf("more than %d folders; is this the right one?", maxFolders)
	}
	entries, err := fs.ReadDir(w.tree, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if strings.HasPrefix(entry.Name(), "_") {
			if entry.IsDir() || belongs(name) {
				w.skipped(name)
			}
			continue
		}
		info, err := fs.Stat(w.tree, name)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = w.enter(name, depth+1)
		} else if belongs(name) {
			err = w.each(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read adds a file to the source. It returns an error above the bounds.
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
	if s.size += len(b); s.size > maxSize {
		return fmt.Errorf("more than %d MiB; is this the right folder?", maxSize>>20)
	}
	if path.Ext(name) == ".rego" {
		s.rules += len(b)
	}
	if s.rules > MaxRules {
		return fmt.Errorf("%s: with this file the tree has more than %d MiB of rules: put what is data into a data.json", name, MaxRules>>20)
	}
	s.Files[name] = b
	return nil
}

// hash returns a hash over names and contents, each after its length, so that different trees have different input.
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

// belongs reports whether a file is part of the tree. All JSON and YAML files are, since OPA's commands would read them
// as data: package proof rejects the wrong ones by name.
func belongs(name string) bool {
	return slices.Contains([]string{".rego", ".json", ".yaml", ".yml"}, path.Ext(name))
}

// Unchanged reports whether the files of the tree are the files that were read: the same inodes with the same size and
// time. It does not read them, since a poll of a large tree would cost too much.
func (s *Source) Unchanged(tree fs.FS) bool {
	seen := 0
	err := walk(tree, func(name string, info fs.FileInfo) error {
		seen++
		was := s.infos[name]
		if was == nil || !os.SameFile(was, info) || was.Size() != info.Size() || !was.ModTime().Equal(info.ModTime()) ||
			!info.ModTime().Before(s.began.Add(-settledAfter)) {
			return fs.SkipAll
		}
		return nil
	}, func(string) {})
	return err == nil && seen == len(s.infos)
}

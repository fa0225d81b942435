package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var errMoved = errors.New("it has changed meanwhile; ask again")

// Confined is the tree in a folder, as Dir returns it, without the places outside of the folder to which links lead.
// Somebody else may change the folder meanwhile.
type Confined struct {
	tree folder
	root *os.Root
}

// Confine opens the folder. The receiver closes it.
func Confine(dir string) (*Confined, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("policy tree: %w", err)
	}
	return &Confined{folder{dir, mountedReadOnly}, root}, nil
}

// Close closes the folder.
func (c *Confined) Close() error { return c.root.Close() }

// Open implements fs.FS. The opened file is the one that the system finds without leaving the folder.
func (c *Confined) Open(name string) (fs.File, error) {
	inside, err := c.stat("open", name)
	if err != nil {
		return nil, err
	}
	f, err := c.tree.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(inside, info) {
		err = &fs.PathError{Op: "open", Path: name, Err: errMoved}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Stat implements fs.StatFS.
func (c *Confined) Stat(name string) (fs.FileInfo, error) {
	inside, err := c.stat("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := c.tree.Stat(name)
	if err == nil && !os.SameFile(inside, info) {
		err = &fs.PathError{Op: "stat", Path: name, Err: errMoved}
	}
	return info, err
}

// stat describes the file without leaving the folder.
func (c *Confined) stat(op, name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return c.root.Stat(name)
}

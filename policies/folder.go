package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the links in the path of one file, as Linux does.
const maxLinks = 40

// othersWrite lets every user write. The owner and the group may write: they are the operators.
const othersWrite fs.FileMode = 0o002

// folder is a tree on the disk. Users other than the owners and their groups can't change it.
//
// folder follows links itself, from the root folder on, and checks each folder on the way. Others can't replace an
// entry of a checked folder, so folder opens the files that it checked. An owner can swap a link at any time: both
// trees are the owner's.
type folder struct {
	dir string
	// readOnly reports whether the path is on a read-only mount, so that nobody can write to it.
	readOnly func(path string) bool
}

// Dir returns the policy tree in a folder. It opens regular files only. It rejects a file that every user of the
// machine could change, directly or by a link or a folder on the way to it.
func Dir(dir string) fs.FS { return folder{dir, mountedReadOnly} }

// Open implements fs.FS. It never blocks, not even on a named pipe.
func (d folder) Open(name string) (fs.File, error) {
	path, info, err := d.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if err := d.check(path, info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if info, err = f.Stat(); err == nil { // an owner may have swapped the file
		err = d.check(path, info)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.Join(err, f.Close())}
	}
	return f, nil
}

// Stat implements fs.StatFS.
func (d folder) Stat(name string) (fs.FileInfo, error) {
	path, info, err := d.find(name)
	if err == nil && info.Mode().Perm()&othersWrite != 0 {
		err = d.changeable(path)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info, nil
}

// check rejects a file unless it is regular or a folder, and a file that others can write to.
func (d folder) check(path string, info fs.FileInfo) error {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a %s; only regular files are read: take it out of the tree", path, kindOf(info.Mode()))
	}
	if info.Mode().Perm()&othersWrite != 0 {
		return d.changeable(path)
	}
	return nil
}

// find follows the name to a file or folder, and returns its path without links. It follows each link itself, so that
// it can check each folder on the way.
func (d folder) find(name string) (path string, info fs.FileInfo, err error) {
	if !fs.ValidPath(name) {
		return "", nil, fs.ErrInvalid
	}
	whole := d.dir + "/" + name
	if !filepath.IsAbs(d.dir) {
		current, err := os.Getwd()
		if err != nil {
			return "", nil, err
		}
		whole = current + "/" + whole
	}
	w := walker{rest: strings.Split(whole, "/")}
	err = w.move("/")
	for err == nil && len(w.rest) > 0 {
		part := w.rest[0]
		switch w.rest = w.rest[1:]; part {
		case "", ".":
		case "..":
			err = w.move(filepath.Dir(w.path))
		default:
			err = w.enter(d, part)
		}
	}
	return w.path, w.info, err
}

// walker follows a path. path is the current place without links, info describes it, rest has the remaining names, and
// links counts the links so far.
type walker struct {
	path  string
	info  fs.FileInfo
	rest  []string
	links int
}

func (w *walker) move(path string) (err error) {
	w.path = path
	w.info, err = os.Lstat(path)
	return err
}

// enter follows one name. If it is a link, its target replaces it in rest.
func (w *walker) enter(d folder, name string) error {
	parent := *w
	if err := w.move(filepath.Join(parent.path, name)); err != nil {
		return err
	}
	if replaceable(parent.info, w.info) {
		if err := d.changeable(parent.path); err != nil {
			return err
		}
	}
	if w.info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%s: more than %d links; do they lead in a circle?", w.path, maxLinks)
	}
	target, err := os.Readlink(w.path)
	if err != nil {
		return err
	}
	w.rest = append(strings.Split(target, "/"), w.rest...)
	w.path, w.info = parent.path, parent.info
	if filepath.IsAbs(target) {
		return w.move("/")
	}
	return nil
}

// replaceable reports whether others can replace the entry of a folder. In a sticky folder such as /tmp, only the
// owners of the entry and of the folder can: replaceable accepts an entry of root or of this process's user there.
func replaceable(folder, entry fs.FileInfo) bool {
	if folder.Mode().Perm()&othersWrite == 0 {
		return false
	}
	owner, ok := entry.Sys().(*syscall.Stat_t)
	return folder.Mode()&fs.ModeSticky == 0 || !ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid()
}

// changeable returns an error for a path with the right to write for others, unless its mount is read-only. Kubernetes
// mounts a ConfigMap read-only, with such rights.
func (d folder) changeable(path string) error {
	if d.readOnly(path) {
		return nil
	}
	return fmt.Errorf("every user of this machine can change %s, and with it who is let in; run chmod o-w on it, or mount it read-only", path)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

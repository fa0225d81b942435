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

// maxLinks bounds the links on the way to one file, as the system does.
const maxLinks = 40

// Rights of those who are neither the owner nor in the group: a group may well be the operators'.
const othersWrite fs.FileMode = 0o002

// folder is a tree on the disk of which every user of the machine can change nothing.
//
// Links are followed by hand, from the root folder on, and each folder on the way is looked at. One in
// which others can't replace anything can't be swapped by them after that, so that what is looked at
// is what is opened; an owner may swap a link at any time, and either tree is theirs.
type folder struct {
	dir string
	// readOnly says whether nobody can write to a path that has the rights for it.
	readOnly func(path string) bool
}

// Dir returns the policy tree in a folder. It reads regular files only, and none that every user of the
// machine could change: neither the file nor a link or a folder on the way to it.
func Dir(dir string) fs.FS { return folder{dir, mountedReadOnly} }

// Open implements fs.FS. It never waits, as for somebody who writes to a named pipe.
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
	if info, err = f.Stat(); err == nil { // an owner may have swapped it
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

// check refuses what is no regular file and no folder, and what others can write to.
func (d folder) check(path string, info fs.FileInfo) error {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a %s; only regular files are read: take it out of the tree", path, kindOf(info.Mode()))
	}
	if info.Mode().Perm()&othersWrite != 0 {
		return d.changeable(path)
	}
	return nil
}

// find follows the name to the file or folder that will be read, and returns its path without links.
// Each link is followed here, and not by the system, so that nobody but the tree's owner can have put
// a file, a folder or a link on the way: what is checked is what is read.
func (d folder) find(name string) (path string, info fs.FileInfo, err error) {
	if !fs.ValidPath(name) {
		return "", nil, fs.ErrInvalid
	}
	whole := d.dir + "/" + name
	if !filepath.IsAbs(d.dir) {
		here, err := os.Getwd()
		if err != nil {
			return "", nil, err
		}
		whole = here + "/" + whole
	}
	w := way{rest: strings.Split(whole, "/")}
	err = w.to("/")
	for err == nil && len(w.rest) > 0 {
		part := w.rest[0]
		switch w.rest = w.rest[1:]; part {
		case "", ".":
		case "..":
			err = w.to(filepath.Dir(w.path))
		default:
			err = w.enter(d, part)
		}
	}
	return w.path, w.info, err
}

// way is how far a path was followed: path is a place without links, info what is there, rest the
// names that are still to be followed, links how many links were.
type way struct {
	path  string
	info  fs.FileInfo
	rest  []string
	links int
}

func (w *way) to(path string) (err error) {
	w.path = path
	w.info, err = os.Lstat(path)
	return err
}

// enter goes on by one name, or by what the link of that name says.
func (w *way) enter(d folder, name string) error {
	in := *w
	if err := w.to(filepath.Join(in.path, name)); err != nil {
		return err
	}
	if replaceable(in.info, w.info) {
		if err := d.changeable(in.path); err != nil {
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
	w.path, w.info = in.path, in.info
	if filepath.IsAbs(target) {
		return w.to("/")
	}
	return nil
}

// replaceable says whether others can put something in the place of what is in a folder. Where the
// folder is sticky, as /tmp is, its owner alone can, who is the system or this process's user here.
func replaceable(folder, entry fs.FileInfo) bool {
	if folder.Mode().Perm()&othersWrite == 0 {
		return false
	}
	owner, ok := entry.Sys().(*syscall.Stat_t)
	return folder.Mode()&fs.ModeSticky == 0 || !ok || owner.Uid != 0 && int(owner.Uid) != os.Geteuid()
}

// changeable refuses a path that others have the right to write to, unless nobody can: the folder of
// a ConfigMap is mounted so.
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

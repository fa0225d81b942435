package policies

import "io/fs"

// DirMounted is Dir where readOnly says which paths nobody can write to.
func DirMounted(dir string, readOnly func(path string) bool) fs.FS { return folder{dir, readOnly} }

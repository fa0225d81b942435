package policies

import "io/fs"

// DirMounted is Dir with readOnly in place of the file system's mounts.
func DirMounted(dir string, readOnly func(path string) bool) fs.FS { return folder{dir, readOnly} }

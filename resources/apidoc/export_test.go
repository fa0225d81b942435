package apidoc

import "io/fs"

// Unite is document on other parts.
func Unite(parts fs.FS) ([]byte, error) { return document(parts) }

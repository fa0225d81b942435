package apidoc

import "io/fs"

// Unite runs document on other parts.
func Unite(parts fs.FS) ([]byte, error) { return document(parts) }

package policies

import (
	"embed"
	"io/fs"
)

//go:embed actions authz grants mcp routes schemas
var tree embed.FS

// Tree returns the embedded tree, tests included. It is read-only.
func Tree() fs.FS { return tree }

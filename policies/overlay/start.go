package overlay

import (
	"embed"
	"io/fs"
)

//go:embed all:start
var start embed.FS

// Start returns the files of a first overlay: its manifest, and one deny rule with its test, as an example that passes.
func Start() fs.FS {
	tree, err := fs.Sub(start, "start")
	if err != nil {
		panic(err) // the name is a constant
	}
	return tree
}

package tickets

import (
	"embed"
	"io/fs"
)

// Name is the server's in the policy tree, and the name of its upstream.
const Name = "tickets"

//go:embed policy
var files embed.FS

// Policy returns the overlay with the server's rows.
func Policy() fs.FS {
	tree, err := fs.Sub(files, "policy")
	if err != nil {
		panic(err) // the name is a constant
	}
	return tree
}

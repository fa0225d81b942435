package firewall

import (
	"encoding/json"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxGroupBytes bounds a group with its rules as it is kept and shown. 200 rules with
// descriptions of 255 letters take half of it. Each group of a page and each change of a
// rule costs a group's whole size.
const maxGroupBytes = 256 << 10

// sized refuses a change that makes a group greater than it may be; one that is past it
// already may shrink.
func sized(before, after resources.SecurityGroup) error {
	size := sizeOf(after)
	if size <= maxGroupBytes || size <= sizeOf(before) {
		return nil
	}
	return resources.Conflict("The security group would take %d bytes with its rules, and %d are the most; "+
		"shorten descriptions or metadata, or divide the rules among several groups.", size, maxGroupBytes)
}

// sizeOf is how many bytes the group takes as JSON, in the form of the store and of an
// answer.
func sizeOf(g resources.SecurityGroup) int {
	var size counter
	enc := json.NewEncoder(&size)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(g); err != nil {
		panic("firewall: a group whose metadata was read as JSON can't fail to render: " + err.Error())
	}
	return int(size) - len("\n")
}

// counter counts what is written to it and keeps nothing.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

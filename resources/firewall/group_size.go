package firewall

import (
	"encoding/json"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxGroupBytes bounds a group with its rules in bytes of JSON. A group with 200 rules and
// descriptions of 255 letters has half of it. Each change of a rule reads and writes the group.
const maxGroupBytes = 256 << 10

// checkSize refuses a change that makes a group larger than maxGroupBytes. A group that is larger
// may shrink.
func checkSize(before, after resources.SecurityGroup) error {
	size := sizeOf(after)
	if size <= maxGroupBytes || size <= sizeOf(before) {
		return nil
	}
	return resources.Conflict("The security group would take %d bytes with its rules, and may take at most %d; "+
		"shorten descriptions or metadata, or divide the rules among several groups.", size, maxGroupBytes)
}

// sizeOf returns the length of the group in bytes of JSON.
func sizeOf(g resources.SecurityGroup) int {
	var size counter
	enc := json.NewEncoder(&size)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(g); err != nil {
		panic("firewall: a group whose metadata was read as JSON can't fail to render: " + err.Error())
	}
	return int(size) - len("\n")
}

// counter is a writer that counts bytes.
type counter int

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

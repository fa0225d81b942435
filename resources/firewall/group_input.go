package firewall

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

const (
	// maxDescription bounds the description of a group and of a rule in characters; it
	// may be empty.
	maxDescription = 255
	// maxMetadata bounds a group's metadata in bytes as they were sent (API contract, E1).
	maxMetadata = 16 << 10
)

// requiredName reads the field name, which must be there.
func requiredName(o *wire.Object) string {
	if name := o.Required("name"); name != "" {
		return checkName(o, name)
	}
	return ""
}

// checkName trims a name, as in every area: names that differ by what can't be seen
// would be taken for one another.
func checkName(o *wire.Object, name string) string {
	name = strings.TrimSpace(name)
	if !resources.ValidName(name) {
		o.Add("name", resources.NameRule)
	}
	return name
}

func readDescription(o *wire.Object) (string, bool) {
	text, ok := o.Text("description")
	switch {
	case utf8.RuneCountInString(text) > maxDescription:
		o.Add("description", "must be at most %d characters", maxDescription)
	case strings.ContainsFunc(text, unicode.IsControl): // one byte would be kept and shown as six
		o.Add("description", "must not hold control characters")
	}
	return text, ok
}

// readMetadata keeps the object as it was sent; nil where there is none.
func readMetadata(o *wire.Object) json.RawMessage {
	raw, _ := o.Raw("metadata")
	if len(raw) > maxMetadata {
		o.Add("metadata", "must be at most %d bytes", maxMetadata)
	}
	return raw
}

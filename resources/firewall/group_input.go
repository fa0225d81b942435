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
	// maxDescription bounds the description of a group and of a rule in characters.
	maxDescription = 255
	// maxMetadata bounds the metadata of a group in bytes, as the client sent it (API contract,
	// E1).
	maxMetadata = 16 << 10
)

// requiredName reads the field name, which must be present.
func requiredName(o *wire.Object) string {
	if name := o.Required("name"); name != "" {
		return checkName(o, name)
	}
	return ""
}

// checkName returns the trimmed name and adds a problem to a wrong one.
func checkName(o *wire.Object, name string) string {
	name = strings.TrimSpace(name)
	if !resources.ValidName(name) {
		o.Add("name", resources.NameRule)
	}
	return name
}

// readDescription reads the field description; ok is false if it is absent.
func readDescription(o *wire.Object) (text string, ok bool) {
	text, ok = o.Text("description")
	switch {
	case utf8.RuneCountInString(text) > maxDescription:
		o.Add("description", "must be at most %d characters", maxDescription)
	case strings.ContainsFunc(text, unicode.IsControl): // JSON writes one in six bytes
		o.Add("description", "must not hold control characters")
	}
	return text, ok
}

// readMetadata reads the field metadata byte for byte, nil if it is absent.
func readMetadata(o *wire.Object) json.RawMessage {
	raw, _ := o.Raw("metadata")
	if len(raw) > maxMetadata {
		o.Add("metadata", "must be at most %d bytes", maxMetadata)
	}
	return raw
}

package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
)

// ManifestFile makes a folder an overlay.
const ManifestFile = "policy.json"

// Bases that a manifest names.
const (
	baseEmbedded = "embedded"
	baseNone     = "none"
)

// Manifest says what a folder is laid over, and what of it the folder replaces or takes away.
type Manifest struct {
	// Base is "embedded", the tree of the program, or "none".
	Base string `json:"base"`
	// Replaces has the revision of each part of the base that a file, a role, a row or a text of the folder replaces, as it was
	// when it was replaced. See Part for the names.
	Replaces map[string]string `json:"replaces,omitempty"`
	// Without are ids of system roles of the base that the tree does not have.
	Without []string `json:"without,omitempty"`
}

// parseManifest reads a manifest. The error names each member that is wrong.
func parseManifest(raw []byte) (m Manifest, err error) {
	var p Problems
	if err := jsonv2.Unmarshal(raw, &m, jsonv2.RejectUnknownMembers(true)); err != nil { // a member that is given twice is an error, too
		p.add(ManifestFile, 0, "must be an object with base, replaces and without: %v", err)
		return m, p.err()
	}
	switch m.Base {
	case baseEmbedded:
	case baseNone:
		if len(m.Replaces)+len(m.Without) > 0 {
			p.add(ManifestFile, 0, `replaces and without are about a base: leave them out, or name the base "embedded"`)
		}
	default:
		p.add(ManifestFile, 0, `base must be "embedded" or "none", not %q`, m.Base)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Replaces)) {
		if m.Replaces[name] == "" {
			p.add(ManifestFile, 0, "replaces: %s has no revision: `portcullis policy replace %s` writes it", name, name)
		}
	}
	return m, p.err()
}

// Format returns the text of a manifest.
func (m Manifest) Format() []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // strings always have a form
	return append(text, '\n')
}

// Problems are all reasons against a folder as an overlay of its base, each with its file, and its line if it has one.
type Problems []string

// Error implements error: one problem a line.
func (p Problems) Error() string { return strings.Join(p, "\n") }

func (p *Problems) add(file string, row int, format string, args ...any) {
	place := file
	if row > 0 {
		place = fmt.Sprintf("%s:%d", file, row)
	}
	*p = append(*p, policies.Problem("%s: %s", place, fmt.Sprintf(format, args...)))
}

// parser adds what the parser says of a file.
func (p *Problems) parser(file string, err error) {
	all, ok := errors.AsType[ast.Errors](err)
	if !ok {
		p.add(file, 0, "%v", err)
		return
	}
	for _, e := range all {
		p.add(file, e.Location.Row, "%s: %s", e.Code, e.Message)
	}
}

// err returns the problems as policies.Listed has them, nil without any.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return Problems(policies.Listed(p))
}

package message

import (
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Era is a generation of MCP revisions. The zero value is invalid.
type Era int

const (
	// Legacy revisions begin a session with initialize.
	Legacy Era = iota + 1
	// Modern revisions name the version and the client in each request.
	Modern
)

// Versions of the protocol. A legacy request without a header has the version VersionAssumed.
const (
	VersionModern  = resources.MCPRevisionModern
	VersionAssumed = "2025-03-26"
)

var versions = []string{VersionModern, "2025-11-25", "2025-06-18", VersionAssumed}

// Versions returns the supported versions, the newest first.
func Versions() []string { return slices.Clone(versions) }

// Spoken is the era and version of a message.
type Spoken struct {
	Era Era
	// Version is "" for initialize without a header. The server then chooses the version.
	Version string
}

// Era determines the era of a message and checks its headers. A version in `_meta` or a modern version in the header makes
// a message modern. The fault has the status 400. Its code is -32020 for headers that are missing, sent twice or differ
// from the body, -32022 for an unsupported version, or -32602 for a modern request without version or capabilities.
func (m *Message) Era(h Headers) (Spoken, *Fault) {
	version, fault := m.one(h, HeaderVersion)
	if fault != nil {
		return Spoken{}, fault
	}
	meta := m.Meta.Client.Version
	switch {
	case meta != "" && version == "":
		return Spoken{}, m.missing(HeaderVersion)
	case meta != "" && meta != version:
		return Spoken{}, m.differs(HeaderVersion, version, "params._meta."+metaVersion, meta)
	case version != "" && !slices.Contains(versions, version), meta != "" && meta != VersionModern:
		return Spoken{}, m.unsupported(version)
	}
	spoken := Spoken{Legacy, version}
	switch {
	case version == VersionModern:
		spoken.Era = Modern
	case version == "" && m.Method != MethodInitialize:
		spoken.Version = VersionAssumed
	}
	if fault := m.modernParts(spoken.Era); fault != nil {
		return Spoken{}, fault
	}
	if fault := m.repeats(h, spoken.Era); fault != nil {
		return Spoken{}, fault
	}
	return spoken, nil
}

// modernParts rejects a modern message without a required part.
func (m *Message) modernParts(era Era) *Fault {
	switch client := m.Meta.Client; {
	case era != Modern:
	case m.Kind == Response:
		return badRequest(m.ID, CodeInvalidRequest, "A client must not send responses in this version: retry the request with inputResponses.")
	case m.Kind == Request && client.Version == "":
		return badRequest(m.ID, CodeInvalidParams, "params._meta."+metaVersion+" is missing.")
	case m.Kind == Request && client.Capabilities == nil:
		return badRequest(m.ID, CodeInvalidParams, "params._meta."+metaCapabilities+" is missing.")
	}
	return nil
}

// unsupported returns the revision's error for an unsupported version.
func (m *Message) unsupported(version string) *Fault {
	return badRequest(m.ID, CodeUnsupportedVersion, "Unsupported protocol version",
		Texts("supported", versions), Text("requested", clip(version)))
}

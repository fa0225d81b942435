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

// The newest version of each era.
const (
	VersionModern = resources.MCPRevisionModern
	VersionLegacy = "2025-11-25"
)

// versions are the supported ones, the newest first.
var versions = []string{VersionModern, VersionLegacy, "2025-06-18", "2025-03-26"}

// Era determines the era of a message and checks its headers. A version in `_meta` or a modern version in the header makes
// a message modern. The fault has the status 400. Its code is -32020 for headers that are missing, sent twice or differ
// from the body, -32022 for an unsupported version, or -32602 for a modern request without version or capabilities.
func (m *Message) Era(h Headers) (Era, *Fault) {
	version, fault := m.one(h, HeaderVersion)
	if fault != nil {
		return 0, fault
	}
	meta := m.Client.Version
	switch {
	case meta != "" && version == "":
		return 0, m.missing(HeaderVersion)
	case meta != "" && meta != version:
		return 0, m.differs(HeaderVersion, version, "params._meta."+metaVersion, meta)
	case version != "" && !slices.Contains(versions, version), meta != "" && meta != VersionModern:
		return 0, m.unsupported(version)
	}
	era := Legacy
	if version == VersionModern {
		era = Modern
	}
	if fault := m.modernParts(era); fault != nil {
		return 0, fault
	}
	if fault := m.repeats(h, era); fault != nil {
		return 0, fault
	}
	return era, nil
}

// modernParts rejects a modern message without a required part.
func (m *Message) modernParts(era Era) *Fault {
	switch client := m.Client; {
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

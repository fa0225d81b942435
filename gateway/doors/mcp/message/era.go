package message

import "slices"

// Era is a way of speaking MCP. Its zero value is neither.
type Era int

const (
	// Legacy revisions open a session by initialize.
	Legacy Era = iota + 1
	// Modern revisions say in each request which version and client it is of.
	Modern
)

// Versions of the protocol. A legacy request without a header is of VersionAssumed.
const (
	VersionModern  = "2026-07-28"
	VersionAssumed = "2025-03-26"
)

var versions = []string{VersionModern, "2025-11-25", "2025-06-18", VersionAssumed}

// Versions returns the versions that the gateway speaks, the newest first.
func Versions() []string { return slices.Clone(versions) }

// Spoken is what a message and its headers say of its era.
type Spoken struct {
	Era Era
	// Version is of the protocol. It is "" of initialize without a header: the server chooses it.
	Version string
}

// Era finds the era of a message and checks its headers. A version in `_meta` or a modern one in the header makes a
// message modern. The fault is -32020 for headers that differ from the body, are missing or stand twice. It is -32022
// for a version that the gateway does not speak, and -32602 for a modern request without its version or capabilities.
// Its status is 400.
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

// modernParts refuses a modern message without a part that the revision requires.
func (m *Message) modernParts(era Era) *Fault {
	switch client := m.Meta.Client; {
	case era != Modern:
	case m.Kind == Response:
		return badRequest(m.ID, CodeInvalidRequest, "A client must send no response in this version; it retries the request with inputResponses.")
	case m.Kind == Request && client.Version == "":
		return badRequest(m.ID, CodeInvalidParams, "params._meta."+metaVersion+" is missing.")
	case m.Kind == Request && client.Capabilities == nil:
		return badRequest(m.ID, CodeInvalidParams, "params._meta."+metaCapabilities+" is missing.")
	}
	return nil
}

// unsupported is the revision's error for a version that the gateway does not speak.
func (m *Message) unsupported(version string) *Fault {
	return badRequest(m.ID, CodeUnsupportedVersion, "Unsupported protocol version",
		Texts("supported", versions), Text("requested", clip(version)))
}

package message

import (
	"encoding/base64"
	"strings"
)

// Names of the headers of MCP.
const (
	HeaderVersion   = "MCP-Protocol-Version"
	HeaderMethod    = "Mcp-Method"
	HeaderName      = "Mcp-Name"
	HeaderSession   = "Mcp-Session-Id"
	HeaderLastEvent = "Last-Event-ID"
	// ParamPrefix begins the headers that repeat arguments.
	ParamPrefix = "Mcp-Param-"
)

// Headers returns all values of a request's header, whose name it takes in any case. The caller refuses names with
// underscores before: some servers read them as hyphens.
type Headers func(name string) []string

// repeats checks the headers that repeat the method and the name.
func (m *Message) repeats(h Headers, era Era) *Fault {
	required := era == Modern && m.Kind == Request
	method, fault := m.one(h, HeaderMethod)
	switch {
	case fault != nil:
		return fault
	case method == "" && required:
		return m.missing(HeaderMethod)
	case method != "" && method != m.Method:
		return m.differs(HeaderMethod, method, "method", m.Method)
	}
	name, fault := m.one(h, HeaderName)
	if fault != nil {
		return fault
	}
	value, field := m.HeaderName()
	switch {
	case name != "":
		return m.repeated(HeaderName, name, field, value)
	case required && field != "" && m.Class(era) != Unknown:
		return m.missing(HeaderName)
	}
	return nil
}

// repeated checks a sent header, which may be encoded, against the value of a field. The field is "" if the message has none.
func (m *Message) repeated(header, sent, field, value string) *Fault {
	switch decoded, ok := DecodeHeader(sent); {
	case !ok:
		return m.mismatch(header+" must be visible ASCII, or Base64 between =?base64? and ?=.", header, sent)
	case field == "":
		return m.mismatch(header+" must not be sent, since the body has nothing that it repeats.", header, sent)
	case decoded != value:
		return m.differs(header, sent, field, value)
	}
	return nil
}

// one returns the only value of a header, "" if it is not sent. An empty value and a second one are faults.
func (m *Message) one(h Headers, name string) (string, *Fault) {
	value, sent, fault := m.sole(h, name)
	if fault == nil && sent && value == "" {
		fault = m.mismatch(name+" must not be empty.", name, "")
	}
	return value, fault
}

// sole returns the only value of a header, which may be empty, and whether it is sent. A second value is a fault.
func (m *Message) sole(h Headers, name string) (value string, sent bool, fault *Fault) {
	switch values := h(name); {
	case len(values) == 0:
		return "", false, nil
	case len(values) > 1:
		return "", true, m.mismatch(name+" must be sent once.", name, values[1])
	default:
		return values[0], true, nil
	}
}

func (m *Message) missing(header string) *Fault {
	return badRequest(m.ID, CodeHeaderMismatch, "Header mismatch: "+header+" is missing.", Text("header", header))
}

func (m *Message) differs(header, sent, field, value string) *Fault {
	f := m.mismatch(header+" must equal "+field+" of the body.", header, sent)
	f.Data = append(f.Data, Text("field", field), Text("body", clip(value)))
	return f
}

func (m *Message) mismatch(text, header, sent string) *Fault {
	return badRequest(m.ID, CodeHeaderMismatch, "Header mismatch: "+text, Text("header", header), Text("sent", clip(sent)))
}

// The form of a header's value that is not plain ASCII.
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// DecodeHeader returns the value that an Mcp-Name or an Mcp-Param header stands for. It returns false for characters
// that a header must not have and for broken Base64.
func DecodeHeader(sent string) (value string, ok bool) {
	for _, c := range []byte(sent) {
		if c != '\t' && (c < ' ' || c > '~') {
			return "", false
		}
	}
	if !strings.HasPrefix(sent, encodedPrefix) || !strings.HasSuffix(sent, encodedSuffix) {
		return sent, true
	}
	if len(sent) < len(encodedPrefix)+len(encodedSuffix) { // servers differ on a question mark that is of both
		return "", false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(sent[len(encodedPrefix) : len(sent)-len(encodedSuffix)])
	return string(raw), err == nil
}

// EncodeHeader returns the form in which a value stands in an Mcp-Name or an Mcp-Param header.
func EncodeHeader(value string) string {
	decoded, ok := DecodeHeader(value)
	if ok && decoded == value && strings.Trim(value, " \t") == value {
		return value
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(value)) + encodedSuffix
}

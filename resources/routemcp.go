package resources

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// MCPRevisionModern is the first revision of MCP whose messages name their method and tool in headers. Revisions are
// dates, which compare as texts.
const MCPRevisionModern = "2026-07-28"

// RouteMCP is the message that a row is for, by the headers Mcp-Method and Mcp-Name. Rows with it share a path.
type RouteMCP struct {
	Method string `json:"method"`
	// Name is the tool's, the prompt's or the resource's; "" is a message without the header.
	Name string `json:"name,omitempty"`
}

// Named reports whether the row is for one message.
func (m RouteMCP) Named() bool { return m != RouteMCP{} }

// mcpRowMethod is the HTTP method of messages.
const mcpRowMethod = "POST"

// mcpNamed are the methods whose messages have Mcp-Name.
var mcpNamed = []string{"tools/call", "prompts/get", "resources/read"}

// maxMCPName bounds a name in bytes.
const maxMCPName = 1000

// MCPProblem returns why no message could fit the row's mcp, "" for a good one. Clients encode a value that begins with
// a base64 mark, so such a row would be another tool's.
func (r *Route) MCPProblem() string {
	m := r.MCP
	switch {
	case !m.Named():
		return ""
	case r.Method != mcpRowMethod || r.Upstream != UpstreamExternal:
		return `is for rows with the method POST and the upstream external: a proxy's calls to an MCP server`
	case !validHeaderText(m.Method):
		return "method must be that of a message, such as tools/call, in visible characters"
	case slices.Contains(mcpNamed, m.Method) != (m.Name != ""):
		return "name must be there for " + strings.Join(mcpNamed, ", ") + ", and for no other method: their messages alone have the header Mcp-Name"
	case m.Name != "" && (!validHeaderText(m.Name) || strings.HasPrefix(m.Name, "=?")):
		return "name must be 1 to 1000 visible ASCII characters that do not begin with =?"
	}
	return ""
}

func validHeaderText(text string) bool {
	return text != "" && len(text) <= maxMCPName && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// UnmarshalJSON rejects anything but an object with a method: a row with an empty mcp would be for every message.
func (m *RouteMCP) UnmarshalJSON(raw []byte) error {
	type plain RouteMCP
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode((*plain)(m)); err != nil {
		return err
	}
	if m.Method == "" {
		return errors.New("mcp must be an object with a method")
	}
	return nil
}

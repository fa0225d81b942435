package resources

import "strings"

// Paths of the records of a call at an MCP server: the call, and how it ended.
const (
	PathMCPCall    = "mcp/call"
	PathMCPOutcome = "mcp/outcome"
)

// IsMCPRecord reports whether a path is that of a record about a call at an MCP server. Policy did not judge its input.
func IsMCPRecord(path string) bool { return strings.HasPrefix(path, "mcp/") }

// MCPCall is a call at an MCP server, as the decision log records it (Judgement.Call).
type MCPCall struct {
	// Server is the name of the row, Method that of the message.
	Server, Method string
	// Name is the name of the tool or the prompt, or the URI of the resource.
	Name string
	// Definition is the tool's current definition, "" if it is unknown.
	Definition string
	// Approval is the id of the approval that the call has used up, "" for none.
	Approval string
	// Arguments is a JSON object with the names of the arguments and … in place of their values, nil without arguments.
	// Cut is true if it lacks some names.
	Arguments []byte
	Cut       bool
	// Outcome is nil in the record of the call itself.
	Outcome *MCPOutcome
}

// The words for the party that ended a call at an MCP server.
const (
	MCPEndedByUpstream = "upstream"
	MCPEndedByCaller   = "caller"
	// MCPEndedByVerdict is for a stream without its right, MCPEndedByToken for one beyond its token's end.
	MCPEndedByVerdict = "verdict"
	MCPEndedByToken   = "token"
	// MCPEndedByGateway is for a stop, and for a response that the gateway rejects.
	MCPEndedByGateway = "gateway"
)

// MCPOutcome is how a call at an MCP server ended. It has nothing of the response's content.
type MCPOutcome struct {
	EndedBy string `json:"ended_by"`
	// Status is the HTTP status of the response, 0 without one.
	Status int `json:"status"`
	// Error is the code of the JSON-RPC error, 0 without one. ToolError is true if the tool's result is an error.
	Error     int64 `json:"error,omitzero"`
	ToolError bool  `json:"tool_error,omitzero"`
	// Millis is the time from the request to the end of the response, Bytes the size of the response's body.
	Millis int64 `json:"duration_ms"`
	Bytes  int64 `json:"bytes"`
}

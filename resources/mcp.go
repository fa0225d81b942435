package resources

// Words of an MCP server's row in the policy tree. The first one of each group is the default.
const (
	// MCPAgentsRegistered lets agents call that are records of the account, MCPAgentsAny lets every client call for its
	// user, MCPAgentsNone lets users alone call.
	MCPAgentsRegistered = "registered"
	MCPAgentsAny        = "any"
	MCPAgentsNone       = "none"

	// MCPConsentRequired needs a delegation of the user to the agent.
	MCPConsentRequired    = "required"
	MCPConsentNotRequired = "not_required"

	// MCPPinDefinitions holds the definition of each tool against its row, MCPPinNames its name alone.
	MCPPinDefinitions = "definitions"
	MCPPinNames       = "names"

	// MCPDenialError answers a denied call with a JSON-RPC error, MCPDenialResult with a result that is an error.
	MCPDenialError  = "error"
	MCPDenialResult = "result"

	// The credential that the upstream gets: the gateway's assertion, a token exchanged for the caller's (RFC 8693), the
	// content of a file, or none.
	MCPCredentialAssertion = "assertion"
	MCPCredentialExchange  = "exchange"
	MCPCredentialSecret    = "secret"
	MCPCredentialNone      = "none"

	// MCPApprovalEachCall needs an approval of the user for each call of the tool; "" needs none.
	MCPApprovalEachCall = "each_call"
)

// MCPServerRequests returns the kinds of requests that a server may be let make of its clients.
func MCPServerRequests() []string { return []string{"elicitation", "sampling", "roots"} }

// Scopes of a token that calls MCP servers: what the effect of the row needs.
const (
	MCPScopeRead  = "mcp:read"
	MCPScopeWrite = "mcp:write"
)

// MCPNameRule describes what ValidMCPServerName accepts.
const MCPNameRule = "must match ^[a-z][a-z0-9_-]{0,63}$, and not be accounts or projects, which are read as parts of the path"

// ValidMCPServerName says whether an MCP server can have the name: it is a segment of a URL, a folder and a part of the
// name of a package.
func ValidMCPServerName(name string) bool { return validSegment(name) && ValidPathSegment(name) }

// MCPServer is an MCP server of the policy tree (policies/mcp/<name>/data.json). What has no row in it exists for
// nobody. Nothing changes it once it is made.
type MCPServer struct {
	// Name is the folder's (ValidMCPServerName).
	Name string `json:"-"`
	// Upstream is the name of an --upstream.
	Upstream string `json:"upstream"`
	Title    string `json:"title,omitempty"`
	// Tools and Prompts are by name.
	Tools     map[string]MCPTool   `json:"tools,omitempty"`
	Resources []MCPResource        `json:"resources,omitempty"`
	Prompts   map[string]MCPPrompt `json:"prompts,omitempty"`
	Agents    string               `json:"agents,omitempty"`
	// Autonomous says that agents may call without a user.
	Autonomous bool   `json:"autonomous,omitempty"`
	Consent    string `json:"consent,omitempty"`
	Pin        string `json:"pin,omitempty"`
	Denial     string `json:"denial,omitempty"`
	// ServerRequests are the kinds of requests that the server may make of its clients, such as elicitation.
	ServerRequests []string `json:"server_requests,omitempty"`
	Credential     string   `json:"credential,omitempty"`
}

// MCPTool is the row of a tool.
type MCPTool struct {
	// Action is what a call of the tool does.
	Action string `json:"action"`
	// Effect is EffectRead or EffectWrite.
	Effect string `json:"effect"`
	// Definition is sha256: and the SHA-256 of the tool's definition in hexadecimal; "" where the server pins names.
	Definition string `json:"definition,omitempty"`
	// Approval is MCPApprovalEachCall or "".
	Approval string `json:"approval,omitempty"`
	// InputSchema is the JSON schema of the tool's arguments in policies/mcp/<server>/schema/data.json, nil without one.
	InputSchema []byte `json:"-"`
}

// MCPResource is the row of resources whose URIs fit a template: {name} is one segment, a last {name+} the rest.
type MCPResource struct {
	URI    string `json:"uri"`
	Action string `json:"action"`
}

// MCPPrompt is the row of a prompt.
type MCPPrompt struct {
	Action string `json:"action"`
	Effect string `json:"effect"`
}

package resources

// ToolCall is a call of a tool of an MCP server, as the tree's rules over arguments judge it. Its user may make the call
// by policy.
type ToolCall struct {
	// Server and Tool are the names of their rows.
	Server, Tool string
	// UserID is the user who calls, "" for an agent without one.
	UserID string
	// Acts says that an agent calls. AgentID is its id, "" for one that the account has not registered.
	Acts      bool
	AgentID   string
	AccountID string
	// ProjectID is the project on the path, "" for none.
	ProjectID string
	// Arguments is a JSON object that has one reading, nil for none.
	Arguments []byte
	// In is where the arguments stand in the request, as problems name it: params or context.
	In  string
	Now Time
	// Approval says that each call of the tool needs an approval.
	Approval bool
}

// ArgumentsVerdict is what a tree says of the arguments of a call. The zero value denies.
type ArgumentsVerdict struct {
	Allowed bool
	// Problems are where the arguments do not fit the tool's schema. The rules are not asked then.
	Problems []Problem
	// Reasons are the messages of the rules that deny, in order.
	Reasons []string
}

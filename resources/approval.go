package resources

import "time"

// PrefixApproval begins the id of an approval.
const PrefixApproval = "approval"

// The statuses of an approval. A used one has let its call through.
const (
	ApprovalPending  = "PENDING"
	ApprovalApproved = "APPROVED"
	ApprovalDenied   = "DENIED"
	ApprovalUsed     = "USED"
)

const (
	// ApprovalLife is the time from the request for an approval to its end. A decision does not extend it.
	ApprovalLife = 10 * time.Minute
	// MaxApprovalArguments limits the arguments of a call that can be approved, with its further parameters, in bytes.
	MaxApprovalArguments = 16 << 10
	// MaxOpenApprovals limits the open requests of a user.
	MaxOpenApprovals = 20
	// MaxOpenOfClient limits those of one client among them.
	MaxOpenOfClient = 10
)

// Approval is a user's decision about one call of a tool at an MCP server. It lets that call through once, and only if
// nothing else denies it.
type Approval struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	UserID    string `json:"user_id"`
	// Client is the client that calls for the user, the zero value for the user's own call. AgentID and AgentName are
	// those of the account's agent with this client, "" without one.
	Client    AgentClient `json:"client,omitzero"`
	AgentID   string      `json:"agent_id,omitempty"`
	AgentName string      `json:"agent_name,omitempty"`
	// Place is the path of the server behind /mcp/, as the call names it.
	Server      string `json:"server"`
	ServerTitle string `json:"server_title,omitempty"`
	Place       string `json:"place"`
	Tool        string `json:"tool"`
	Effect      string `json:"effect"`
	// Arguments is the JSON of the arguments as the server will get them. Further is a JSON object of the call's other
	// parameters, "" without any. Both are personal data: the user alone reads them, until the call is denied or made.
	Arguments string `json:"arguments,omitempty"`
	Further   string `json:"further_parameters,omitempty"`
	// ArgumentsHash is sha256: and the SHA-256 of the canonical parameters in hexadecimal.
	ArgumentsHash string `json:"arguments_hash,omitempty"`
	// Definition is the reviewed definition of the tool, "" at a server that pins names.
	Definition string `json:"definition,omitempty"`
	Status     string `json:"status"`
	// DecidedBy is the user who decided, "" before the decision.
	DecidedBy string `json:"decided_by,omitempty"`
	CreatedAt Time   `json:"created_at"`
	ExpiresAt Time   `json:"expires_at"`
}

// WithoutArguments returns the approval without the values of its call.
func (a Approval) WithoutArguments() Approval {
	a.Arguments, a.Further = "", ""
	return a
}

package resources

import (
	"slices"
	"strings"
)

// PrefixAgent begins the id of an agent.
const PrefixAgent = "agent"

// Agent is a program that an account has registered. It acts for users with their tokens. Its roles are a ceiling then.
type Agent struct {
	ID        string        `json:"id"`
	AccountID string        `json:"account_id"`
	Name      string        `json:"name"`
	Status    string        `json:"status"`
	Clients   []AgentClient `json:"clients"`
	CreatedAt Time          `json:"created_at"`
	UpdatedAt Time          `json:"updated_at"`
}

// AgentStatuses returns the statuses of an agent.
func AgentStatuses() []string { return []string{StatusActive, StatusSuspended} }

// AgentClient is an OAuth client of an issuer, as its tokens name it. An account has at most one agent with it.
type AgentClient struct {
	// Issuer is the `iss` of the tokens.
	Issuer string `json:"issuer"`
	// ClientID is the outermost `act.sub` of the tokens, or their `client_id` or `azp`.
	ClientID string `json:"client_id"`
}

// AgentClientRule describes to callers what AgentClient.Valid accepts.
const AgentClientRule = "issuer and client_id must each be 1 to 255 bytes of visible text, and client_id must not have the form of an agent's id, agent-…-v1"

// Valid reports whether tokens can name the client. A client_id must not have the form of an agent's id: AuthZEN takes
// both in one field.
func (c AgentClient) Valid() bool {
	return ValidSubject(c.Issuer) && ValidSubject(c.ClientID) && !IsAgentID(c.ClientID)
}

// IsAgentID reports whether a name has the form of an agent's id.
func IsAgentID(name string) bool {
	return strings.HasPrefix(name, PrefixAgent+"-") && strings.HasSuffix(name, "-v1") && ValidID(name)
}

// AgentRef names an agent by its id or by its client. The zero value names none.
type AgentRef struct {
	ID     string
	Client AgentClient
}

// Named reports whether the reference names an agent.
func (r AgentRef) Named() bool { return r != AgentRef{} }

// ActingAgent is the agent's part in a question about what it may do for the subject.
type ActingAgent struct {
	// Ref names the agent.
	Ref AgentRef
	// Consented says that the agent needs no delegation.
	Consented bool
	// Any says that the account need not have registered the agent. Users delegate to registered agents alone.
	Any bool

	// ID is the agent's, "" for an unknown one.
	ID string
	// Exists says whether the account has registered the agent, Status is the agent's.
	Exists bool
	Status string
	// Covered says whether the user's delegation covers the question, or none is needed.
	Covered bool
}

// In returns the agent's part in a question with what the facts say of it. It is nil for an agent that need not be known,
// and is not.
func (a *ActingAgent) In(q *Question) *ActingAgent {
	out := *a
	out.Covered = a.Consented || q.Facts.Delegation.Covers(&q.Action, &q.Target, q.Now)
	if s := q.Facts.Agent; s != nil {
		out.ID, out.Exists, out.Status = s.UserID, s.UserExists, s.UserStatus
	}
	if a.Any && a.Consented && q.Facts.Agent != nil && !out.Exists {
		return nil
	}
	return &out
}

// Delegation is what a user lets an agent do for them. It gives no permission: it is a ceiling.
type Delegation struct {
	AccountID   string   `json:"account_id"`
	UserID      string   `json:"user_id"`
	AgentID     string   `json:"agent_id"`
	Permissions []string `json:"permissions"`
	// ProjectID limits the delegation to a project; "" is the account with all of its projects.
	ProjectID string `json:"project_id,omitempty"`
	// ExpiresAt ends the delegation; zero is never.
	ExpiresAt Time `json:"expires_at,omitzero"`
	CreatedAt Time `json:"created_at"`
	UpdatedAt Time `json:"updated_at"`
}

// Covers reports whether the delegation has the action at the target now.
func (d *Delegation) Covers(action *Action, target *Target, now Time) bool {
	if d == nil || d.ExpiresAt != 0 && now >= d.ExpiresAt || d.ProjectID != "" && d.ProjectID != target.ProjectID {
		return false
	}
	patterns := action.Patterns()
	return slices.ContainsFunc(patterns[:], func(pattern string) bool { return slices.Contains(d.Permissions, pattern) })
}

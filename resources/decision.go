package resources

import (
	"crypto/sha256"
	"errors"
	"sync/atomic"
)

// Decision is the answer of policy to a question. The zero value denies.
type Decision struct {
	// Allowed is true only when a rule allows.
	Allowed bool
	// Code names the reason for programs; "" if the policy tree gives none.
	Code string
	// Reason says why, for people.
	Reason string
	// PolicyRevision names the policy tree that decided.
	PolicyRevision string
	// BundleRevision is the revision in the manifest of the tree's bundle; "" for a tree without a bundle.
	BundleRevision string
}

// DecisionWord names a decision in the log, in metrics and in spans.
func DecisionWord(allowed bool) string {
	if allowed {
		return "allow"
	}
	return "deny"
}

// HeldRole is one role assignment of a user, direct or through a group, with the fields of
// its role that a decision reads.
type HeldRole struct {
	RoleID     string `json:"role_id"`
	RoleScope  string `json:"role_scope"`
	RoleStatus string `json:"role_status"`
	Custom     bool   `json:"custom,omitempty"`
	// Permissions holds the patterns of a custom role; those of a system role are policy data.
	Permissions []string `json:"permissions,omitempty"`
	GroupID     string   `json:"group_id,omitempty"`
	ProjectID   string   `json:"project_id,omitempty"`
	ResourceID  string   `json:"resource_id,omitempty"`
	Status      string   `json:"status"`
	ExpiresAt   Time     `json:"expires_at,omitzero"`
	CreatedAt   Time     `json:"created_at"`
	UpdatedAt   Time     `json:"updated_at"`
}

// Subject holds the facts about one user in one account at one revision. Nothing changes it
// once it is made, since caches share it.
type Subject struct {
	AccountID     string `json:"account_id"`
	AccountExists bool   `json:"account_exists"`
	AccountStatus string `json:"account_status"`
	UserID        string `json:"user_id"`
	UserUUID      string `json:"user_uuid"`
	UserExists    bool   `json:"user_exists"`
	UserStatus    string `json:"user_status"`
	// Member says whether the user is a member of the account.
	Member bool `json:"member"`
	// HomeID is the user's account, "" for none.
	HomeID string `json:"home_id,omitempty"`
	// PartnerID is the subject that the identity provider gives the user.
	PartnerID   string     `json:"partner_id,omitempty"`
	Assignments []HeldRole `json:"assignments"`
	// Keys holds the API keys of the user in this account that are not revoked.
	Keys []KeyFact `json:"keys,omitempty"`
	// Digests is where policy keeps what it has computed of the assignments (policies/question); nil is nothing yet.
	Digests atomic.Pointer[Digests] `json:"-"`
}

// Clone returns a copy to be changed, without policy's computed values. It shares the lists.
func (s *Subject) Clone() *Subject {
	return &Subject{
		AccountID: s.AccountID, AccountExists: s.AccountExists, AccountStatus: s.AccountStatus,
		UserID: s.UserID, UserUUID: s.UserUUID, UserExists: s.UserExists, UserStatus: s.UserStatus,
		Member: s.Member, HomeID: s.HomeID, PartnerID: s.PartnerID, Assignments: s.Assignments, Keys: s.Keys,
	}
}

// Digests are digests of what a subject holds, good from From until Until, while the same assignments run.
type Digests struct {
	From, Until Time
	// Places are the account and each place at which the subject holds something, sorted by project and resource. Sums has the
	// digest of what is held at each and above it; nil until somebody asks about the place.
	Places []HeldPlace
	Sums   []atomic.Pointer[[sha256.Size]byte]
	// All covers everything the subject holds; nil unless somebody asked for it.
	All *[sha256.Size]byte
}

// HeldPlace is a place at which a subject holds something; the zero value is the account.
type HeldPlace struct{ ProjectID, ResourceID string }

// Facts holds what a decision about one user, account and project depends on, all of it at
// one revision of the account.
type Facts struct {
	// Revision is the account's revision.
	Revision int64
	// Subject is never nil in facts from a store.
	Subject *Subject
	// ProjectState is active, deleting or absent; "" for a question without a project.
	ProjectState string
	// Agent has the facts about an agent as its own subject, Delegation what the user delegates to it. Both are nil in
	// facts without an agent. An unknown agent is a subject that does not exist. Without a delegation it is nil.
	Agent      *Subject
	Delegation *Delegation
}

// Target is the place that a request names.
type Target struct {
	// AccountID and ProjectID are those of the path, "" if it names none.
	AccountID, ProjectID string
	// Resource is `<collection>/<id>`, the first two segments of Rest, or "".
	Resource string
	// Rest is the path below account and project.
	Rest string
	// UserID is the user that the request names, "" for none.
	UserID string
}

// TargetAt returns an assignment's place as a target; the empty place is the account.
func TargetAt(project, resource string) Target {
	return Target{ProjectID: project, Resource: resource, Rest: resource}
}

// Question is the question of one decision: may the subject do the action there?
type Question struct {
	// Principal is the caller, who asks.
	Principal Principal
	// SubjectID is the external id of the user in question, "" for a subject that is not a user. A call of a route names
	// none, unless somebody else asks about it: then the caller of that call.
	SubjectID string
	// Action is the zero value for a route without one.
	Action Action
	// AccountID is the account in question.
	AccountID string
	Facts     Facts
	Target    Target
	// Through is the project on the path of an account action, "" for none. Unless it is an active project of the
	// account, the question is denied.
	Through string
	// Agent is the agent that does the action for the subject; nil for none.
	Agent *ActingAgent
	// Denied is why the question is denied before policy is asked: it names what does not exist. It is "" if policy
	// decides.
	Denied string
	// Withheld is why the question is denied even if policy allows it. The zero value denies nothing. A denial by policy
	// keeps its own reason.
	Withheld Denial
	// Call is the call in question of an MCP server's tool, whose arguments are judged if policy allows it and nothing is
	// withheld; nil for any other question. Arguments that are nil are not judged.
	Call *ToolCall
	// Route is the row of the call or the door, nil if none is asked at. Nothing changes it.
	Route *Route
	// Grant is what the caller wants to give away; nil in any other question.
	Grant *Grant
	// App holds what an app of the policy tree decides about; nil if the platform's own rules decide.
	App *Entities
	// Now is the deciding replica's clock.
	Now Time
}

// Denial is a denial by the gateway itself.
type Denial struct {
	Code, Reason string
	// Quotes says that the reason may quote what the caller sent. No record has it.
	Quotes bool
}

// Causes of an error of KindUnavailable that ends an evaluation. Callers see their texts.
var (
	// ErrPolicyTime means that the evaluation took longer than the operator allows.
	ErrPolicyTime = errors.New("policy evaluation took too long")
	// ErrPolicyMemory means that the evaluation used more memory than one evaluation may.
	ErrPolicyMemory = errors.New("policy evaluation took too much memory")
)

// Grant is what a caller wants to give away, at the target of the question.
type Grant struct {
	// Permissions holds patterns.
	Permissions []string
	// Until is when the grant ends; zero is never.
	Until Time
}

package resources

import (
	"errors"
	"sync/atomic"
)

// Decision is the answer to "may they?". The zero value denies.
type Decision struct {
	// Allowed is true only when a rule said so.
	Allowed bool
	// Code names what decided, for programs; empty where a policy tree gives none.
	Code string
	// Reason says what decided, for people.
	Reason string
	// PolicyRevision names the policy tree that was asked.
	PolicyRevision string
	// Until is when the answer to an equal question may become another one, of the same
	// tree. The zero value is at once: such an answer is not to be given again.
	Until Time
}

// HeldRole is one role assignment of a user, direct or through a group, with what
// a decision must know of its role.
type HeldRole struct {
	RoleID     string `json:"role_id"`
	RoleScope  string `json:"role_scope"`
	RoleStatus string `json:"role_status"`
	Custom     bool   `json:"custom,omitempty"`
	// Permissions are a custom role's patterns; a system role's are policy data.
	Permissions []string `json:"permissions,omitempty"`
	GroupID     string   `json:"group_id,omitempty"`
	ProjectID   string   `json:"project_id,omitempty"`
	ResourceID  string   `json:"resource_id,omitempty"`
	Status      string   `json:"status"`
	ExpiresAt   Time     `json:"expires_at,omitzero"`
	CreatedAt   Time     `json:"created_at"`
	UpdatedAt   Time     `json:"updated_at"`
}

// Subject is what is known of one user in one account at one revision. It is
// immutable once made: it is cached and shared.
type Subject struct {
	AccountID     string `json:"account_id"`
	AccountExists bool   `json:"account_exists"`
	AccountStatus string `json:"account_status"`
	UserID        string `json:"user_id"`
	UserUUID      string `json:"user_uuid"`
	UserExists    bool   `json:"user_exists"`
	UserStatus    string `json:"user_status"`
	// Member says that the user belongs to the account; HomeID is the account of which
	// the user is a member, "" for none.
	Member bool   `json:"member"`
	HomeID string `json:"home_id,omitempty"`
	// PartnerID is the identity provider's subject of the user.
	PartnerID   string     `json:"partner_id,omitempty"`
	Assignments []HeldRole `json:"assignments"`
	// Keys are the user's API keys of this account that were not revoked.
	Keys []KeyFact `json:"keys,omitempty"`

	// Prepared is room for the policy engine's own form of this subject; it never goes
	// stale, since the subject never changes.
	Prepared atomic.Value `json:"-"`
}

// Facts are what a decision about one user, account and project rests on, all of
// one account revision.
type Facts struct {
	// Revision is the account's revision of which all of these facts are.
	Revision int64
	// Subject is never nil in facts that a store gave.
	Subject *Subject
	// ProjectState is active, deleting or absent; "" when no project was asked about.
	ProjectState string
}

// Target is the place an action is meant for, as the request names it.
type Target struct {
	// AccountID and ProjectID are those of the path; "" where it names none.
	AccountID, ProjectID string
	// Resource is `<collection>/<id>`, the first two segments of Rest, or "".
	Resource string
	// Rest is the path below account and project.
	Rest string
	// UserID is the user whom the request names; "" where it names none.
	UserID string
}

// Question is what the policy engine is asked.
type Question struct {
	Principal Principal
	// Action is the zero value for a route without one.
	Action Action
	// AccountID is the account in question.
	AccountID string
	Facts     Facts
	Target    Target
	Route     Route
	// Now is the deciding replica's clock.
	Now Time
}

// Bounds of policy that a question can meet. They are the cause of an error of KindUnavailable, and
// their texts are told to callers.
var (
	// ErrPolicyTime is of a policy that took longer than the operator allows one evaluation.
	ErrPolicyTime = errors.New("policy evaluation took too long")
	// ErrPolicyMemory is of a policy that made more than the memory of one evaluation.
	ErrPolicyMemory = errors.New("policy evaluation took too much memory")
)

// Grant is what a caller wants to give: may they, holding it themselves?
type Grant struct {
	Principal Principal
	AccountID string
	// Facts are the caller's own, of the transaction that makes the grant.
	Facts Facts
	// Permissions are patterns; ProjectID and ResourceID the place ("" = account level).
	Permissions           []string
	ProjectID, ResourceID string
	// Until is when the grant ends; zero is never.
	Until Time
	Now   Time
}

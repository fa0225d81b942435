package resources

// Scopes of a role (specification, "Role").
const (
	RoleScopeAccount  = "ACCOUNT"
	RoleScopeProject  = "PROJECT"
	RoleScopeResource = "RESOURCE"
)

// RoleAccountAdmin is the system role of an "organization admin" (API contract, 3). An account
// keeps at least one.
const RoleAccountAdmin = "account_admin"

// Role is a named set of permissions: a system role of the policy tree, or a custom role of
// an account.
type Role struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Scope       string   `json:"scope"`
	Status      string   `json:"status"`
	IsCustom    bool     `json:"isCustom"`
	Permissions []string `json:"permissions,omitempty"`
	AccountID   string   `json:"accountId,omitempty"`
	ProjectID   string   `json:"projectId,omitempty"`
	Description string   `json:"description,omitempty"`
	CreatedBy   string   `json:"createdBy,omitempty"`
	CreatedAt   Time     `json:"createdAt,omitzero"`
	UpdatedAt   Time     `json:"updatedAt,omitzero"`
}

// Types of assignee (specification, "Role assignment").
const (
	AssigneeUser  = "USER"
	AssigneeGroup = "IAMGROUP"
	// AssigneeAgent is not the specification's.
	AssigneeAgent = "AGENT"
)

// AssigneeTypes returns the types of assignee.
func AssigneeTypes() []string { return []string{AssigneeUser, AssigneeGroup, AssigneeAgent} }

// Assignment is the grant of a role to a user or a group, in the whole account, in one project, or on
// one resource of a project.
type Assignment struct {
	// ID is computed from account, role, assignee and place (records.AssignmentID), so there is
	// at most one assignment for each combination of them.
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	RoleID    string `json:"role_id"`
	// RoleScope is the scope that the role had when it was assigned. The assignment does not
	// count once a system role has another scope.
	RoleScope    string `json:"role_scope"`
	AssigneeType string `json:"assignee_type"`
	AssigneeID   string `json:"assignee_id"`
	ProjectID    string `json:"project_id,omitempty"`
	ResourceID   string `json:"resource_id,omitempty"`
	Status       string `json:"status"`
	// ExpiresAt ends the assignment by the clock of the deciding replica; zero is never.
	ExpiresAt Time `json:"expires_at,omitzero"`
	CreatedAt Time `json:"created_at"`
	UpdatedAt Time `json:"updated_at"`
}

// EffectiveStatus returns the status that responses show: INACTIVE once the assignment has
// expired.
func (a Assignment) EffectiveStatus(now Time) string {
	if a.ExpiresAt != 0 && now >= a.ExpiresAt {
		return StatusInactive
	}
	return a.Status
}

// Group is a set of users of one account to which roles can be assigned (IAMGROUP).
type Group struct {
	ID          string `json:"id"`
	AccountID   string `json:"account_id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
}

// GroupMember is one user in one group.
type GroupMember struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	GroupID   string `json:"group_id"`
	UserID    string `json:"user_id"`
	AddedAt   Time   `json:"added_at"`
}

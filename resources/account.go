package resources

// Statuses of accounts, users, roles and assignments. Every value but StatusActive counts as
// not active.
const (
	StatusActive    = "ACTIVE"
	StatusInactive  = "INACTIVE"
	StatusSuspended = "SUSPENDED"
	StatusInvited   = "INVITED"
)

// Statuses that users alone have (specification, "User").
const (
	StatusWaitlisted = "WAITLISTED"
	StatusPending    = "PENDING"
)

// UserStatuses returns those that user.update sets: only an invitation sets StatusInvited.
func UserStatuses() []string {
	return []string{StatusActive, StatusInactive, StatusSuspended, StatusWaitlisted, StatusPending}
}

// Account is a tenant.
type Account struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
}

// States of a project. The record of a deleted project stays, so that no other project gets
// its id.
const (
	ProjectActive   = "active"
	ProjectDeleting = "deleting"
	ProjectDeleted  = "deleted"
	// ProjectAbsent is the state of a project that the account does not have.
	ProjectAbsent = "absent"
)

// Project is a project of one account.
type Project struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	Name      string `json:"name"`
	State     string `json:"state"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
}

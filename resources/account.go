package resources

// Statuses that accounts, users, roles and assignments share. A value that is
// not known counts as not active.
const (
	StatusActive    = "ACTIVE"
	StatusInactive  = "INACTIVE"
	StatusSuspended = "SUSPENDED"
	StatusInvited   = "INVITED"
)

// Account is the tenant.
type Account struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
}

// States of a project. A deleted one is kept, since its id is never given again.
const (
	ProjectActive   = "active"
	ProjectDeleting = "deleting"
	ProjectDeleted  = "deleted"
	// ProjectAbsent is the state of a project that the account does not have.
	ProjectAbsent = "absent"
)

// Project belongs to one account.
type Project struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	Name      string `json:"name"`
	State     string `json:"state"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
}

package resources

// States of a message that is to leave the system.
const (
	MessagePending = "pending"
	MessageDead    = "dead"
)

// MessageInvitation is the kind of the invitation mail.
const MessageInvitation = "invitation"

// Message is something that must leave the system, stored in the transaction of its
// cause and delivered by a worker. A delivered message is deleted.
type Message struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	State string `json:"state"`
	// To is the receiver's address.
	To string `json:"to"`
	// AccountID and AccountName say what it is about; UserID whom it is for.
	AccountID   string `json:"account_id"`
	AccountName string `json:"account_name"`
	UserID      string `json:"user_id"`
	// Attempts were made and failed; NextAt is when the next one is due.
	Attempts  int  `json:"attempts"`
	NextAt    Time `json:"next_at"`
	CreatedAt Time `json:"created_at"`
	// LeaseOwner works on it until LeaseUntil; nobody else does.
	LeaseOwner string `json:"lease_owner,omitempty"`
	LeaseUntil Time   `json:"lease_until,omitzero"`
	// LastError is why the last attempt failed.
	LastError string `json:"last_error,omitempty"`
}

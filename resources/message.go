package resources

// States of a message.
const (
	MessagePending = "pending"
	MessageDead    = "dead"
)

// MessageInvitation is the kind of an invitation mail.
const MessageInvitation = "invitation"

// Message is a message of the outbox. It is stored in the transaction of its cause, delivered
// by a worker and then deleted.
type Message struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	State string `json:"state"`
	// To is the receiver's address.
	To string `json:"to"`
	// AccountID and AccountName name the account that the message is about.
	AccountID   string `json:"account_id"`
	AccountName string `json:"account_name"`
	// UserID names the receiver.
	UserID string `json:"user_id"`
	// Attempts counts the deliveries that failed.
	Attempts int `json:"attempts"`
	// NextAt is when the next delivery is due.
	NextAt    Time `json:"next_at"`
	CreatedAt Time `json:"created_at"`
	// LeaseOwner is the worker that alone may deliver the message until LeaseUntil.
	LeaseOwner string `json:"lease_owner,omitempty"`
	LeaseUntil Time   `json:"lease_until,omitzero"`
	// LastError is why the last delivery failed.
	LastError string `json:"last_error,omitempty"`
}

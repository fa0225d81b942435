package resources

// Identity is a user or an agent as they are now, whom a credential names.
type Identity struct {
	// ID is the user's external id, or the agent's id; UUID is the user's internal id.
	ID, UUID string
	// AccountID is the account that they are of, "" for none.
	AccountID string
	// Status is one of Status…; only StatusActive may come in.
	Status string
}

// KeyIdentity is an API key that was not revoked, and its owner.
type KeyIdentity struct {
	// Owner's account is the key's.
	Owner Identity
	// Key has the hash, the scopes and the expiry. It is shared: nobody changes it.
	Key KeyFact
}

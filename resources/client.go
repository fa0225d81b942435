package resources

// Client is the OAuth client of a token, and who acts for the token's subject.
type Client struct {
	// Issuer is the token's `iss`.
	Issuer string `json:"issuer,omitzero"`
	// ID is the actor's: the outermost `act.sub`, else `client_id`, else `azp`; "" for a token without them.
	ID string `json:"id,omitzero"`
	// Actors are the subjects of `act`, the outermost first. One "" alone stands for claims that are malformed.
	Actors []string `json:"actors,omitempty"`
	// Scopes are the words of `scope`.
	Scopes []string `json:"scopes,omitempty"`
	// Own says that the client is one of the operator's own applications, and so no agent.
	Own bool `json:"own,omitzero"`
}

package resources

// Client is the OAuth client of a token, and who acts for the token's subject.
type Client struct {
	// Issuer is the token's `iss`.
	Issuer string `json:"issuer,omitzero"`
	// ID is the first of the outermost `act.sub`, `client_id` and `azp` that the token has, or "".
	ID string `json:"id,omitzero"`
	// Actors are the subjects of `act`, the outermost first. One "" alone stands for claims that are malformed.
	Actors []string `json:"actors,omitempty"`
	// Scopes are the words of `scope`.
	Scopes []string `json:"scopes,omitempty"`
	// Own is true for the operator's own applications. They are not agents.
	Own bool `json:"own,omitzero"`
	// Until is the time from which on the gateway rejects the token. Records leave it out.
	Until Time `json:"-"`
}

// Agent returns the client that acts for the token's subject; ok is false if the subject acts without one, or with one of
// the operator's own applications. A client with malformed claims is an agent without an id.
func (c *Client) Agent() (client AgentClient, ok bool) {
	if c == nil || c.Own || c.ID == "" && len(c.Actors) == 0 {
		return AgentClient{}, false
	}
	return AgentClient{Issuer: c.Issuer, ClientID: c.ID}, true
}

// HasActor reports whether the token has an actor other than the operator's own applications. A token with malformed claims
// has one. A client alone is none: the token of any sign-in can name one.
func (c *Client) HasActor() bool { return c != nil && !c.Own && len(c.Actors) > 0 }

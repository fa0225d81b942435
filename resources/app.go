package resources

// About names whose facts a decision needs: a user, a project and an agent of one account, each of them or none.
type About struct {
	UserID, ProjectID string
	Agent             AgentRef
}

// Entities are what a question has that an app of the policy tree decides. Its facts are those of the subject in the account;
// their Subject is nobody's where the subject is not a user.
type Entities struct {
	// ResourceType is the type that the app claims.
	ResourceType string
	// Subject, Action, Resource and Context are JSON objects as they were sent, each a valid body by
	// the rules of resources/wire; Context is nil if none was sent.
	Subject, Action, Resource, Context []byte
}

// AppDecision is the answer of an app. The zero value denies. Its Reason says which app answers how.
type AppDecision struct {
	Decision
	// Context is what else the app says.
	Context []Member
}

// Member is a member of a JSON object.
type Member struct {
	Name string
	// Value is JSON.
	Value []byte
}

package resources

// About names whose facts a decision needs: a user and a project of one account, each "" for none.
type About struct{ UserID, ProjectID string }

// AppQuestion is a question about a resource of a type that an app of the policy tree claims.
type AppQuestion struct {
	Principal Principal
	// ResourceType is the type that the app claims.
	ResourceType string
	// Subject, Action, Resource and Context are JSON objects as they were sent, each a valid body by
	// the rules of resources/wire; Context is nil where none was sent.
	Subject, Action, Resource, Context []byte
	// AccountID is the account in question, "" for none.
	AccountID string
	// Facts are those of the subject in the account; its Subject is nobody's where the subject is no
	// user.
	Facts Facts
	Now   Time
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

package resources

// ConsoleSession is the session of a browser that signed in to the console.
type ConsoleSession struct {
	// UserID is the external id of the user, AccountID their account.
	UserID, AccountID string
	// Token is the user's access token, which the console sends to the API.
	Token string
	// EndsAt is the last moment of the session and of the token.
	EndsAt Time
}

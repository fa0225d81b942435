package resources

// Closing is one attempt to delete a project, as areas are told of it.
type Closing struct {
	AccountID, ProjectID string
	// Mark is the project's revision since it was marked for deletion. Each attempt has a
	// higher one than those before, so that a word that comes late is told apart.
	Mark int64
}

package resources

// Closing is one attempt to delete a project, for the areas that are asked about it.
type Closing struct {
	AccountID, ProjectID string
	// Mark is the revision that marked the project for deletion. Each attempt has a higher
	// one than those before, by which an area tells late messages of earlier attempts.
	Mark int64
}

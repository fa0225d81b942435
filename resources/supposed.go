package resources

// Supposed holds facts about the people whom changes touch, at one revision of the account. Nothing is changed.
type Supposed struct {
	Revision int64
	// People are those whose facts the changes change, by id.
	People []SupposedPerson
	// Projects are those of the account that are not deleted, by id. States has the state of each, and of each project with
	// a changed assignment.
	Projects []string
	States   map[string]string
	// Complete is false if a bound left out people or projects.
	Complete bool
}

// SupposedPerson holds the facts about a person before the changes and after them.
type SupposedPerson struct {
	Before, After *Subject
	// Resources are the resources of the person's changed assignments, sorted by project and resource.
	Resources []HeldPlace
}

package reuse

// Place is a project, or a resource in one. The zero value is the account.
type Place struct{ Project, Resource string }

// Covering returns the places that cover this one, the wider ones first: the account, the project, the resource.
func (p Place) Covering() []Place {
	switch {
	case p.Project == "":
		return []Place{{}}
	case p.Resource == "":
		return []Place{{}, p}
	}
	return []Place{{}, {Project: p.Project}, p}
}

package resources

// Held returns an active assignment of the role at a place, as facts have it. It has no end and no times.
func (r *Role) Held(project, resource string) HeldRole {
	held := HeldRole{
		RoleID: r.ID, RoleScope: r.Scope, RoleStatus: r.Status, Custom: r.IsCustom, ProjectID: project, ResourceID: resource, Status: StatusActive,
	}
	if r.IsCustom { // those of a system role are data of the tree
		held.Permissions = r.Permissions
	}
	return held
}

// Redefine calls change with each of the assignments of a custom role, so that it changes what facts have of the role.
func Redefine(assignments []HeldRole, role string, change func(*HeldRole)) {
	for i := range assignments {
		if held := &assignments[i]; held.Custom && held.RoleID == role {
			change(held)
		}
	}
}

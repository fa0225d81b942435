package why

import (
	"cmp"
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// tellGrants tells the subject's assignments that could matter: those whose place covers the target, and those
// elsewhere whose role would grant the action here.
func (e *explanation) tellGrants(ctx context.Context) error {
	for i := range e.held() {
		held := &e.held()[i]
		if !e.covers(held) && !e.grants(held) {
			continue
		}
		grant := resources.ExplainedGrant{RoleID: held.RoleID, ProjectID: held.ProjectID, ResourceID: held.ResourceID, GroupID: held.GroupID}
		grant.WhyNot = e.whyNot(held)
		alone := e.q
		subject := *e.q.Facts.Subject
		subject.Assignments = []resources.HeldRole{*held}
		alone.Facts.Subject = &subject
		counts, known, err := e.policy.Granted(ctx, alone)
		if err != nil {
			return err
		}
		switch grant.Counts = counts || !known && grant.WhyNot == ""; {
		case grant.Counts:
			grant.WhyNot = ""
		case grant.WhyNot == "":
			grant.WhyNot = "no rule of the policy tree counts it here"
		}
		e.out.Grants = append(e.out.Grants, grant)
	}
	slices.SortStableFunc(e.out.Grants, func(a, b resources.ExplainedGrant) int {
		switch {
		case a.Counts == b.Counts:
			return cmp.Or(cmp.Compare(a.RoleID, b.RoleID), cmp.Compare(a.ProjectID, b.ProjectID),
				cmp.Compare(a.ResourceID, b.ResourceID), cmp.Compare(a.GroupID, b.GroupID))
		case a.Counts:
			return -1
		}
		return 1
	})
	if len(e.out.Grants) > maxGrants {
		e.out.Grants, e.out.Complete = e.out.Grants[:maxGrants], false
	}
	return nil
}

// held are the subject's assignments.
func (e *explanation) held() []resources.HeldRole {
	if e.q.Facts.Subject == nil {
		return nil
	}
	return e.q.Facts.Subject.Assignments
}

// covers says whether the place of the assignment covers the target.
func (e *explanation) covers(h *resources.HeldRole) bool {
	return (h.ProjectID == "" || h.ProjectID == e.q.Target.ProjectID) && (h.ResourceID == "" || h.ResourceID == e.q.Target.Resource)
}

// grants says whether the role of the assignment holds the action.
func (e *explanation) grants(h *resources.HeldRole) bool {
	if h.Custom {
		return holds(h.Permissions, e.q.Action)
	}
	return e.granting[h.RoleID]
}

// holds says whether one of the permissions is a pattern of the action.
func holds(permissions []string, a resources.Action) bool {
	patterns := a.Patterns()
	return slices.ContainsFunc(permissions, func(p string) bool { return slices.Contains(patterns[:], p) })
}

// whyNot is the first thing that keeps an assignment from counting, "" where nothing that is known here does.
func (e *explanation) whyNot(h *resources.HeldRole) string {
	switch {
	case h.ExpiresAt < 0:
		return "it has ended"
	case h.ExpiresAt != 0 && e.q.Now >= h.ExpiresAt:
		return "it ended at " + h.ExpiresAt.String()
	case h.Status != resources.StatusActive:
		return "it is inactive"
	case h.RoleStatus != resources.StatusActive:
		return "its role is inactive"
	case h.ProjectID != "" && e.q.Target.ProjectID == "":
		return "it is of a project, and the question names none"
	case h.ProjectID != "" && h.ProjectID != e.q.Target.ProjectID:
		return "it is of another project"
	case h.ResourceID != "" && h.ResourceID != e.q.Target.Resource:
		return "it is of another resource"
	case h.RoleScope != scopeAt(h.ProjectID, h.ResourceID):
		return "it does not stand at the level of its role's scope"
	case h.ProjectID != "" && e.q.Action.Scope == resources.ScopeAccount:
		return "an account action is not granted in a project"
	case !e.grants(h):
		return "its role lacks the action"
	}
	return ""
}

// scopeAt is the scope of roles that are assigned at a place.
func scopeAt(project, resource string) string {
	switch {
	case project == "" && resource == "":
		return resources.RoleScopeAccount
	case project == "":
		return ""
	case resource == "":
		return resources.RoleScopeProject
	}
	return resources.RoleScopeResource
}

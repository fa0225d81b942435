package explain

import (
	"cmp"
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// addGrants adds the subject's assignments that could matter: those around the target, and those elsewhere with a role for
// the action.
func (e *explanation) addGrants(ctx context.Context) error {
	matter := e.matter()
	if len(matter) > maxGrants {
		matter, e.out.Complete = matter[:maxGrants], false
	}
	for _, m := range matter {
		alone, subject := e.q, e.q.Facts.Subject.Clone()
		subject.Assignments = []resources.HeldRole{*m.held}
		alone.Facts.Subject = subject
		counts, sure, err := e.policy.Granted(ctx, alone)
		if err != nil {
			return err
		}
		grant := resources.ExplainedGrant{
			RoleID: m.held.RoleID, ProjectID: m.held.ProjectID, ResourceID: m.held.ResourceID, GroupID: m.held.GroupID,
			Counts: counts || !sure && m.whyNot == "",
		}
		if !grant.Counts {
			grant.WhyNot = cmp.Or(m.whyNot, "no rule of the policy tree counts it here")
		}
		e.out.Grants = append(e.out.Grants, grant)
	}
	return nil
}

// matters is an assignment that could matter, and why it does not count, as far as this package knows.
type matters struct {
	held   *resources.HeldRole
	whyNot string
}

// matter returns the assignments that could matter. What seems to count comes first.
func (e *explanation) matter() (out []matters) {
	for i := range e.held() {
		if held := &e.held()[i]; e.covers(held) || e.grants(held) {
			out = append(out, matters{held, e.whyNot(held)})
		}
	}
	slices.SortStableFunc(out, func(a, b matters) int {
		if (a.whyNot == "") != (b.whyNot == "") {
			return cmp.Compare(len(a.whyNot), len(b.whyNot)) // the empty one is the shorter
		}
		return cmp.Or(cmp.Compare(a.held.RoleID, b.held.RoleID), cmp.Compare(a.held.ProjectID, b.held.ProjectID),
			cmp.Compare(a.held.ResourceID, b.held.ResourceID), cmp.Compare(a.held.GroupID, b.held.GroupID))
	})
	return out
}

// held returns the subject's assignments.
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

// whyNot returns the first reason for which an assignment does not count, "" without one.
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

// scopeAt returns the scope of roles that are assigned at a place.
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

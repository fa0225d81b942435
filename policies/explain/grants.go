package explain

import (
	"cmp"
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// addGrants adds the subject's assignments that could matter, at most maxGrants, each with whether it counts at the
// target: policy is asked as if the subject had this assignment alone.
func (e *explanation) addGrants(ctx context.Context) error {
	all := e.relevant()
	if len(all) > maxGrants {
		all, e.out.Complete = all[:maxGrants], false
	}
	for _, one := range all {
		alone, subject := e.q, e.q.Facts.Subject.Clone()
		subject.Assignments = []resources.HeldRole{*one.assignment}
		alone.Facts.Subject = subject
		counts, sure, err := e.policy.Granted(ctx, alone)
		if err != nil {
			return err
		}
		grant := resources.ExplainedGrant{
			RoleID: one.assignment.RoleID, ProjectID: one.assignment.ProjectID, ResourceID: one.assignment.ResourceID, GroupID: one.assignment.GroupID,
			Counts: counts || !sure && one.whyNot == "",
		}
		if !grant.Counts {
			grant.WhyNot = cmp.Or(one.whyNot, "no rule of the policy tree counts it here")
		}
		e.out.Grants = append(e.out.Grants, grant)
	}
	return nil
}

// relevant is an assignment that could matter, and why it does not count; "" if this package knows no reason.
type relevant struct {
	assignment *resources.HeldRole
	whyNot     string
}

// relevant returns the assignments that could matter: their place covers the target, or their role has the action. What
// seems to count comes first.
func (e *explanation) relevant() (out []relevant) {
	all := e.assignments()
	for i := range all {
		if one := &all[i]; e.covers(one) || e.grants(one) {
			out = append(out, relevant{one, e.whyNot(one)})
		}
	}
	slices.SortStableFunc(out, func(a, b relevant) int {
		if (a.whyNot == "") != (b.whyNot == "") {
			return cmp.Compare(len(a.whyNot), len(b.whyNot)) // the empty one is the shorter
		}
		return cmp.Or(cmp.Compare(a.assignment.RoleID, b.assignment.RoleID), cmp.Compare(a.assignment.ProjectID, b.assignment.ProjectID),
			cmp.Compare(a.assignment.ResourceID, b.assignment.ResourceID), cmp.Compare(a.assignment.GroupID, b.assignment.GroupID))
	})
	return out
}

// assignments returns all assignments of the subject, whether or not they count: direct ones and those of the subject's
// groups, ended, inactive and of other projects, too. They are the question's own and not copies. It returns nil for a
// question without facts about a subject.
func (e *explanation) assignments() []resources.HeldRole {
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
	case h.RoleScope != question.LevelOf(h.ProjectID, h.ResourceID):
		return "it does not stand at the level of its role's scope"
	case h.ProjectID != "" && e.q.Action.Scope == resources.ScopeAccount:
		return "an account action is not granted in a project"
	case !e.grants(h):
		return "its role lacks the action"
	}
	return ""
}

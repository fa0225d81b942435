package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// longer is by how much a fix extends an assignment.
const longer = resources.Time(24 * time.Hour / time.Millisecond)

// atom is a step of a fix, and what it changes.
type atom struct {
	resources.Step
	// changes is the index of the assignment that the step changes, among the subject's. role is the role of a new
	// assignment.
	changes int
	role    *resources.Role
}

// key names the atom: two with one key are the same change.
func (a atom) key() string {
	return strings.Join([]string{a.Kind, a.RoleID, a.ProjectID, a.ResourceID, a.GroupID, a.Permission, strings.Join(a.Scopes, " ")}, "|")
}

// stepOrder returns the order in which somebody can take the steps of a fix: nobody can assign an inactive role, or anything
// in a suspended account.
func stepOrder() []string {
	return []string{
		resources.StepActivateAccount, resources.StepActivateUser, resources.StepActivateRole, resources.StepAddPermission,
		resources.StepAssign, resources.StepExtend, resources.StepActivateAssignment, resources.StepUseKey,
	}
}

// inOrder returns the atoms in the order of their steps.
func inOrder(atoms []atom) []atom {
	order := stepOrder()
	out := slices.Clone(atoms)
	slices.SortFunc(out, func(a, b atom) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.key(), b.key()))
	})
	return out
}

// changed returns the question after the atoms. It does not change the facts of the question.
func changed(q resources.Question, atoms []atom) resources.Question {
	if len(atoms) == 0 { // the facts may be nobody's
		return q
	}
	subject := q.Facts.Subject.Clone()
	subject.Assignments = slices.Clone(subject.Assignments)
	q.Facts.Subject = subject
	for _, a := range atoms { // the steps of the role follow
		if a.Kind == resources.StepAssign {
			subject.Assignments = append(subject.Assignments, a.role.Held(a.ProjectID, a.ResourceID))
		}
	}
	for _, a := range atoms {
		a.apply(&q, subject)
	}
	return q
}

// apply makes a change other than an assignment.
func (a atom) apply(q *resources.Question, subject *resources.Subject) {
	switch a.Kind {
	case resources.StepActivateAccount:
		subject.AccountStatus = resources.StatusActive
	case resources.StepActivateUser:
		subject.UserStatus = resources.StatusActive
	case resources.StepExtend:
		subject.Assignments[a.changes].ExpiresAt = a.Until
	case resources.StepActivateAssignment:
		subject.Assignments[a.changes].Status = resources.StatusActive
	case resources.StepUseKey:
		q.Principal.KeyScopes = a.Scopes
	case resources.StepActivateRole:
		resources.Redefine(subject.Assignments, a.RoleID, func(h *resources.HeldRole) { h.RoleStatus = resources.StatusActive })
	case resources.StepAddPermission:
		resources.Redefine(subject.Assignments, a.RoleID, func(h *resources.HeldRole) {
			h.Permissions = append(slices.Clone(h.Permissions), a.Permission)
		})
	}
}

// fixOf returns the fix of these atoms, and the other users whom it concerns.
func fixOf(atoms []atom) (resources.Fix, Change) {
	var fix resources.Fix
	var change Change
	for _, a := range inOrder(atoms) {
		fix.Steps = append(fix.Steps, a.Step)
		switch a.Kind {
		case resources.StepActivateAccount:
			change.Account = true
		case resources.StepActivateRole, resources.StepAddPermission:
			change.RoleIDs = append(change.RoleIDs, a.RoleID)
		case resources.StepExtend, resources.StepActivateAssignment:
			if a.GroupID != "" {
				change.GroupIDs = append(change.GroupIDs, a.GroupID)
			}
		}
	}
	return fix, change
}

package question

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// assignmentsTerm returns {project: {resource: [assignment, …]}}, everything that the subject holds.
func assignmentsTerm(q *resources.Question) *ast.Term {
	assignments := subjectOf(q).Assignments
	held := make([]*resources.HeldRole, len(assignments))
	for i := range assignments {
		held[i] = &assignments[i]
	}
	slices.SortStableFunc(held, func(a, b *resources.HeldRole) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.ResourceID, b.ResourceID))
	})
	project := func(held *resources.HeldRole) string { return held.ProjectID }
	resource := func(held *resources.HeldRole) string { return held.ResourceID }
	return grouped(held, project, func(inProject []*resources.HeldRole) *ast.Term {
		return grouped(inProject, resource, func(atPlace []*resources.HeldRole) *ast.Term {
			items := make([]*ast.Term, len(atPlace))
			for i := range atPlace {
				items[i] = assignmentTerm(q, atPlace[i])
			}
			return ast.ArrayTerm(items...)
		})
	})
}

// grouped returns an object of what neighbours with the same key make.
func grouped(
	held []*resources.HeldRole, key func(*resources.HeldRole) string, value func([]*resources.HeldRole) *ast.Term,
) *ast.Term {
	items := make([][2]*ast.Term, 0, len(held))
	for first, i := 0, 1; i <= len(held); i++ {
		if i == len(held) || key(held[i]) != key(held[first]) {
			items = append(items, field(key(held[first]), value(held[first:i])))
			first = i
		}
	}
	return objectOf(items)
}

func assignmentTerm(q *resources.Question, h *resources.HeldRole) *ast.Term {
	end := EndOf(h.ExpiresAt)
	return ast.ObjectTerm(
		field("role", term(h.RoleID)), field("custom", ast.InternedTerm(h.Custom)), field("level", term(LevelOf(h.ProjectID, h.ResourceID))),
		field("role_scope", term(h.RoleScope)), field("role_status", term(h.RoleStatus)), field("status", term(h.Status)),
		field("expires", integer(int64(end))), field("running", ast.InternedTerm(q.Now < end)),
	)
}

// rolesTerm returns the custom roles among those that the subject holds, in the form of data.grants.
func rolesTerm(q *resources.Question) *ast.Term {
	roles, assignments := map[string]*resources.HeldRole{}, subjectOf(q).Assignments
	for i := range assignments {
		// One role can be held twice, as by two groups. Its permissions are those of one revision.
		if h := &assignments[i]; h.Custom && roles[h.RoleID] == nil {
			roles[h.RoleID] = h
		}
	}
	return object(roles, func(h *resources.HeldRole) *ast.Term {
		return ast.ObjectTerm(field("scope", term(h.RoleScope)), field("permissions", set(h.Permissions)))
	})
}

// appendHeld appends the digest of everything that the subject holds. It is made once for a subject and the time until
// the next assignment ends.
func appendHeld(b []byte, q *resources.Question) []byte {
	if len(subjectOf(q).Assignments) == 0 {
		return append(b, 0)
	}
	b = append(b, 1)
	digests := digestsOf(q)
	if digests.All == nil {
		next := *digests
		var terms bytesOfTerms
		terms.term(assignmentsTerm(q))
		terms.term(rolesTerm(q))
		sum := sha256.Sum256(terms)
		next.All = &sum
		subjectOf(q).Digests.CompareAndSwap(digests, &next)
		digests = &next
	}
	return appendDigest(b, *digests.All)
}

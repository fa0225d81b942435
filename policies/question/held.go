package question

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// assignments returns {project: {resource: [assignment, …]}}, everything that the subject holds.
func (input *Input) assignments() *ast.Term {
	held := make([]*resources.HeldRole, len(input.subject.Assignments))
	for i := range input.subject.Assignments {
		held[i] = &input.subject.Assignments[i]
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
				items[i] = input.assignment(atPlace[i])
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

func (input *Input) assignment(h *resources.HeldRole) *ast.Term {
	end := EndOf(h.ExpiresAt)
	return ast.ObjectTerm(
		field("role", term(h.RoleID)), field("custom", ast.InternedTerm(h.Custom)), field("level", term(levelOf(h))),
		field("role_scope", term(h.RoleScope)), field("role_status", term(h.RoleStatus)), field("status", term(h.Status)),
		field("expires", integer(int64(end))), field("running", ast.InternedTerm(input.q.Now < end)),
	)
}

// roles returns the custom roles among those that the subject holds, in the form of data.grants.
func (input *Input) roles() *ast.Term {
	roles := map[string]*resources.HeldRole{}
	for i := range input.subject.Assignments {
		// One role can be held twice, as by two groups. Its permissions are those of one revision.
		if h := &input.subject.Assignments[i]; h.Custom && roles[h.RoleID] == nil {
			roles[h.RoleID] = h
		}
	}
	return object(roles, func(h *resources.HeldRole) *ast.Term {
		return ast.ObjectTerm(field("scope", term(h.RoleScope)), field("permissions", set(h.Permissions)))
	})
}

// appendHeld appends the digest of everything that the subject holds. It is made once for a subject and the time until
// the next assignment ends.
func (input *Input) appendHeld(b []byte) []byte {
	if len(input.subject.Assignments) == 0 {
		return append(b, 0)
	}
	b = append(b, 1)
	digests := input.digests()
	if digests.All == nil {
		next := *digests
		var terms bytesOfTerms
		terms.term(input.assignments())
		terms.term(input.roles())
		sum := sha256.Sum256(terms)
		next.All = &sum
		input.subject.Digests.CompareAndSwap(digests, &next)
		digests = &next
	}
	return appendDigest(b, *digests.All)
}

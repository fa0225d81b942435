package question

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// assignments returns {project: {resource: [assignment, …]}}, everything that the subject holds.
func (in *Input) assignments() *ast.Term {
	held := make([]*resources.HeldRole, len(in.subject.Assignments))
	for i := range in.subject.Assignments {
		held[i] = &in.subject.Assignments[i]
	}
	slices.SortStableFunc(held, func(a, b *resources.HeldRole) int {
		return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.ResourceID, b.ResourceID))
	})
	project := func(held *resources.HeldRole) string { return held.ProjectID }
	resource := func(held *resources.HeldRole) string { return held.ResourceID }
	return grouped(held, project, func(there []*resources.HeldRole) *ast.Term {
		return grouped(there, resource, func(here []*resources.HeldRole) *ast.Term {
			items := make([]*ast.Term, len(here))
			for i := range here {
				items[i] = in.assignment(here[i])
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
	for from, i := 0, 1; i <= len(held); i++ {
		if i == len(held) || key(held[i]) != key(held[from]) {
			items = append(items, field(key(held[from]), value(held[from:i])))
			from = i
		}
	}
	return objectOf(items)
}

func (in *Input) assignment(h *resources.HeldRole) *ast.Term {
	end := EndOf(h.ExpiresAt)
	return ast.ObjectTerm(
		field("role", term(h.RoleID)), field("custom", ast.InternedTerm(h.Custom)), field("level", term(levelOf(h))),
		field("role_scope", term(h.RoleScope)), field("role_status", term(h.RoleStatus)), field("status", term(h.Status)),
		field("expires", integer(int64(end))), field("running", ast.InternedTerm(in.q.Now < end)),
	)
}

// roles returns the custom roles among those that the subject holds, in the form of data.grants.
func (in *Input) roles() *ast.Term {
	roles := map[string]*resources.HeldRole{}
	for i := range in.subject.Assignments {
		// One role can be held twice, as by two groups. Its permissions are those of one revision.
		if h := &in.subject.Assignments[i]; h.Custom && roles[h.RoleID] == nil {
			roles[h.RoleID] = h
		}
	}
	return object(roles, func(h *resources.HeldRole) *ast.Term {
		return ast.ObjectTerm(field("scope", term(h.RoleScope)), field("permissions", set(h.Permissions)))
	})
}

// appendHeld appends the digest of everything that the subject holds. It is made once for a subject and the time until
// the next assignment ends.
func (in *Input) appendHeld(b []byte) []byte {
	if len(in.subject.Assignments) == 0 {
		return append(b, 0)
	}
	b = append(b, 1)
	known := in.digests()
	if known.All == nil {
		next := *known
		var terms bytesOfTerms
		terms.term(in.assignments())
		terms.term(in.roles())
		sum := sha256.Sum256(terms)
		next.All = &sum
		in.subject.Digests.CompareAndSwap(known, &next)
		known = &next
	}
	return appendDigest(b, *known.All)
}

package engine

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// preparedSubject is a Subject's part of the input. It has no tie to a tree, so it
// outlives reloads; it is settled, so any number of evaluations may read it at once.
type preparedSubject struct {
	subject, account *ast.Term
}

// preparedRoute is a catalogue row's part of the input.
type preparedRoute struct {
	route resources.Route
	term  *ast.Term
}

// subject gives the prepared form, made on first use and kept in the subject. Two
// goroutines may both make it: the forms are equal, and the last one stays.
func (w *words) subject(s *resources.Subject) *preparedSubject {
	if s == nil {
		return w.noSubject
	}
	if p, ok := s.Prepared.Load().(*preparedSubject); ok {
		return p
	}
	p := w.prepare(s)
	s.Prepared.Store(p)
	return p
}

func (w *words) prepare(s *resources.Subject) *preparedSubject {
	items := make([]*ast.Term, len(s.Assignments))
	roles := map[string]*ast.Term{}
	for i := range s.Assignments {
		held := &s.Assignments[i]
		items[i] = w.assignment(held)
		// One role can be held twice, as by two groups. Its permissions are those of one revision.
		if _, known := roles[held.RoleID]; held.Custom && !known {
			roles[held.RoleID] = w.set(held.Permissions)
		}
	}
	custom := make([][2]*ast.Term, 0, len(roles))
	for _, id := range slices.Sorted(maps.Keys(roles)) {
		custom = append(custom, [2]*ast.Term{ast.StringTerm(id), roles[id]})
	}
	return &preparedSubject{
		subject: settled(ast.ObjectTerm(
			[2]*ast.Term{w.k.id, w.word(s.UserID)}, [2]*ast.Term{w.k.exists, w.boolean(s.UserExists)},
			[2]*ast.Term{w.k.status, w.word(s.UserStatus)}, [2]*ast.Term{w.k.member, w.boolean(s.Member)},
			[2]*ast.Term{w.k.assignments, ast.ArrayTerm(items...)}, [2]*ast.Term{w.k.roles, ast.ObjectTerm(custom...)},
		)),
		account: settled(w.account(s.AccountID, s.AccountExists, s.AccountStatus)),
	}
}

func (w *words) account(id string, exists bool, status string) *ast.Term {
	return ast.ObjectTerm(
		[2]*ast.Term{w.k.id, w.word(id)}, [2]*ast.Term{w.k.exists, w.boolean(exists)},
		[2]*ast.Term{w.k.status, w.word(status)},
	)
}

func (w *words) assignment(h *resources.HeldRole) *ast.Term {
	return ast.ObjectTerm(
		[2]*ast.Term{w.k.role, w.word(h.RoleID)}, [2]*ast.Term{w.k.custom, w.boolean(h.Custom)},
		[2]*ast.Term{w.k.roleScope, w.word(h.RoleScope)}, [2]*ast.Term{w.k.roleStatus, w.word(h.RoleStatus)},
		[2]*ast.Term{w.k.status, w.word(h.Status)}, [2]*ast.Term{w.k.expires, ast.NewTerm(millis(h.ExpiresAt))},
		[2]*ast.Term{w.k.project, w.word(h.ProjectID)}, [2]*ast.Term{w.k.resource, w.word(h.ResourceID)},
	)
}

package engine

import (
	"crypto/sha256"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// preparedSubject is a Subject's part of the input. It has no tie to a tree, so it
// outlives reloads; it is settled, so any number of evaluations may read it at once.
type preparedSubject struct {
	account *ast.Term
	digest  [sha256.Size]byte // of the account, and of the subject at dawn
	ends    []resources.Time  // of assignments, in order, each once
	held    map[place]bool    // the places below the account at which an assignment stands
	// told is the subject as it was last asked about; nil after the first question.
	told atomic.Pointer[toldSubject]
	// signedIn is the subject as the caller with a token of its own; nil until it is.
	signedIn atomic.Pointer[ast.Term]
}

// toldSubject is a Subject as it is from one end of an assignment until the next one. Which
// assignments run is said here, once for all questions of that time: Rego would compare the
// time with every assignment that grants, for each of them.
type toldSubject struct {
	period int
	// fields are all of the subject but here, which depends on the question's target.
	fields      [][2]*ast.Term
	assignments ast.Object // by place
	// once says that it is not kept for the next question: nearly all of a flood have but one.
	once bool
}

// dawn is before all ends but its own.
const dawn resources.Time = math.MinInt64

// preparedRoute is a catalogue row's part of the input.
type preparedRoute struct {
	effect string
	access []string
	term   *ast.Term
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
	p.told.Load().once = true
	s.Prepared.Store(p)
	return p
}

func (w *words) prepare(s *resources.Subject) *preparedSubject {
	p := &preparedSubject{
		account: w.accounts.term(accountParts{s.AccountID, s.AccountExists, s.AccountStatus}, func() *ast.Term {
			return settled(w.account(s.AccountID, s.AccountExists, s.AccountStatus))
		}),
		ends: ends(s.Assignments), held: map[place]bool{},
	}
	for i := range s.Assignments {
		if held := &s.Assignments[i]; held.ProjectID != "" {
			p.held[place{held.ProjectID, held.ResourceID}] = true
		}
	}
	first := w.told(s, p.period(dawn), dawn)
	p.digest = digest(ast.ObjectTerm(first.fields...), p.account)
	p.told.Store(first)
	return p
}

// at is what is told of the subject at a time. Where an end has come since it was last asked about, or the time
// is an earlier one, the form of that time takes the place of the other; so does, with the second question, one that
// is kept. Two may make it, as of the subject itself.
func (p *preparedSubject) at(w *words, s *resources.Subject, now resources.Time) *toldSubject {
	told, period := p.told.Load(), p.period(now)
	switch {
	case told == nil || told.period != period:
		told = w.told(s, period, now)
		p.told.Store(told)
	case told.once:
		p.told.CompareAndSwap(told, nil)
	}
	return told
}

func (w *words) told(s *resources.Subject, period int, now resources.Time) *toldSubject {
	assignments, roles := settled(w.filed(s.Assignments, now)), settled(w.customRoles(s.Assignments))
	return &toldSubject{period: period, assignments: assignments.Value.(ast.Object), fields: [][2]*ast.Term{
		{w.k.id, w.word(s.UserID)},
		{w.k.exists, w.boolean(s.UserExists)},
		{w.k.status, w.word(s.UserStatus)},
		{w.k.member, w.boolean(s.Member)},
		{w.k.assignments, assignments},
		{w.k.roles, roles},
	}}
}

// place is a project, or a resource in one.
type place struct{ project, resource string }

// covering are the places that cover this one, the wider ones first: the account, the project, the resource.
func (p place) covering() []place {
	switch {
	case p.project == "":
		return []place{{}}
	case p.resource == "":
		return []place{{}, p}
	}
	return []place{{}, {project: p.project}, p}
}

// narrowest is the narrowest place that covers this one and at which the subject holds a role: with the subject's
// facts it tells which assignments are here.
func (p *preparedSubject) narrowest(at place) (found place) {
	for _, covering := range at.covering() {
		if p.held[covering] {
			found = covering
		}
	}
	return found
}

// about is the subject's part of the input for a question about that place.
func (t *toldSubject) about(w *words, at place) *ast.Term {
	var here []*ast.Term
	for _, covering := range at.covering() {
		project := t.assignments.Get(ast.StringTerm(covering.project))
		if project == nil {
			continue
		}
		if held := project.Value.(ast.Object).Get(ast.StringTerm(covering.resource)); held != nil {
			held.Value.(*ast.Array).Foreach(func(assignment *ast.Term) { here = append(here, assignment) })
		}
	}
	return ast.ObjectTerm(append(t.fields[:len(t.fields):len(t.fields)], [2]*ast.Term{w.k.here, ast.ArrayTerm(here...)})...)
}

// filed is {project: {resource: [assignment, …]}}: a question looks at the places
// that it names, however many there are.
func (w *words) filed(all []resources.HeldRole, now resources.Time) *ast.Term {
	projects := map[string]map[string][]*ast.Term{}
	for i := range all {
		held := &all[i]
		if projects[held.ProjectID] == nil {
			projects[held.ProjectID] = map[string][]*ast.Term{}
		}
		there := projects[held.ProjectID]
		parts := assignmentParts{
			held.RoleID, held.Custom, level(held), held.RoleScope, held.RoleStatus, held.Status, held.ExpiresAt, now < endOf(held.ExpiresAt),
		}
		there[held.ResourceID] = append(there[held.ResourceID], w.assignments.term(parts, func() *ast.Term { return settled(w.assignment(parts)) }))
	}
	return object(w, projects, func(there map[string][]*ast.Term) *ast.Term {
		return object(w, there, func(items []*ast.Term) *ast.Term { return ast.ArrayTerm(items...) })
	})
}

// customRoles are the custom ones among the roles held, in the form of data.grants.
func (w *words) customRoles(all []resources.HeldRole) *ast.Term {
	roles := map[string]*resources.HeldRole{}
	for i := range all {
		// One role can be held twice, as by two groups. Its permissions are those of one revision.
		if held := &all[i]; held.Custom && roles[held.RoleID] == nil {
			roles[held.RoleID] = held
		}
	}
	return object(w, roles, func(held *resources.HeldRole) *ast.Term {
		return ast.ObjectTerm(
			[2]*ast.Term{w.k.scope, w.word(held.RoleScope)}, [2]*ast.Term{w.k.permissions, w.set(held.Permissions)},
		)
	})
}

// object is a map in the input's form.
func object[V any](w *words, m map[string]V, value func(V) *ast.Term) *ast.Term {
	if len(m) == 0 {
		return w.none
	}
	items := make([][2]*ast.Term, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		items = append(items, [2]*ast.Term{w.word(key), value(m[key])})
	}
	return ast.ObjectTerm(items...)
}

func (w *words) account(id string, exists bool, status string) *ast.Term {
	return ast.ObjectTerm(
		[2]*ast.Term{w.k.id, w.word(id)}, [2]*ast.Term{w.k.exists, w.boolean(exists)},
		[2]*ast.Term{w.k.status, w.word(status)},
	)
}

// accountParts and assignmentParts are all that the terms of their kind are made of.
type accountParts struct {
	id     string
	exists bool
	status string
}

type assignmentParts struct {
	role                                 string
	custom                               bool
	level, roleScope, roleStatus, status string
	expires                              resources.Time
	running                              bool
}

func (w *words) assignment(a assignmentParts) *ast.Term {
	return ast.ObjectTerm(
		[2]*ast.Term{w.k.role, w.word(a.role)}, [2]*ast.Term{w.k.custom, w.boolean(a.custom)},
		[2]*ast.Term{w.k.level, w.word(a.level)},
		[2]*ast.Term{w.k.roleScope, w.word(a.roleScope)}, [2]*ast.Term{w.k.roleStatus, w.word(a.roleStatus)},
		[2]*ast.Term{w.k.status, w.word(a.status)}, [2]*ast.Term{w.k.expires, w.end(a.expires)},
		[2]*ast.Term{w.k.running, w.boolean(a.running)},
	)
}

// level names where an assignment stands, in the words of role scopes; a resource of
// no project is no place.
func level(h *resources.HeldRole) string {
	switch {
	case h.ProjectID == "" && h.ResourceID == "":
		return resources.RoleScopeAccount
	case h.ProjectID == "":
		return ""
	case h.ResourceID == "":
		return resources.RoleScopeProject
	}
	return resources.RoleScopeResource
}

package engine

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// subjectForm is a Subject's part of the input from one end of an assignment until the next, and what a key has
// of it. It is settled, so any number of evaluations may read it at once.
type subjectForm struct {
	account *ast.Term
	// subject is all of it but here, which depends on the question's target.
	subject *ast.Term
	facts   reuse.Facts
}

// subjects are the forms of the subjects that somebody still holds. A subject never changes, so its form is
// made once; nothing here keeps a subject alive.
type subjects struct {
	forms  sync.Map     // weak.Pointer[resources.Subject] -> *subjectForm
	nobody *subjectForm // of no facts
}

func newSubjects() *subjects { return &subjects{nobody: newSubjectForm(&resources.Subject{}, 0)} }

// form returns the subject's form at a time. Two goroutines may both make it: the forms are equal, and the last one
// stays.
func (c *subjects) form(s *resources.Subject, now resources.Time) *subjectForm {
	if s == nil {
		return c.nobody
	}
	key := weak.Make(s)
	if known, ok := c.forms.Load(key); ok {
		if form := known.(*subjectForm); form.facts.Cover(now) {
			return form
		}
	}
	form := newSubjectForm(s, now)
	if _, known := c.forms.Swap(key, form); !known {
		runtime.AddCleanup(s, func(key weak.Pointer[resources.Subject]) { c.forms.Delete(key) }, key)
	}
	return form
}

// dawn is before all ends but its own.
const dawn resources.Time = math.MinInt64

func newSubjectForm(s *resources.Subject, now resources.Time) *subjectForm {
	f := &subjectForm{account: accountTerm(s.AccountID, s.AccountExists, s.AccountStatus), subject: subjectTerm(s, dawn)}
	f.facts = reuse.NewFacts(s.Assignments, now, f.account, f.subject)
	if !f.facts.Cover(dawn) {
		f.subject = subjectTerm(s, now)
	}
	settle(f.account.Value)
	settle(f.subject.Value)
	return f
}

func accountTerm(id string, exists bool, status string) *ast.Term {
	return ast.ObjectTerm(text("id", id), flag("exists", exists), text("status", status))
}

func subjectTerm(s *resources.Subject, now resources.Time) *ast.Term {
	return ast.ObjectTerm(
		text("id", s.UserID), flag("exists", s.UserExists), text("status", s.UserStatus), flag("member", s.Member),
		field("assignments", byPlace(s.Assignments, now)), field("roles", customRoles(s.Assignments)),
	)
}

// subjectAt returns the subject's part of the input for a question about a place.
func (f *subjectForm) subjectAt(at reuse.Place) *ast.Term {
	subject := f.subject.Value.(ast.Object)
	items := make([][2]*ast.Term, 0, subject.Len()+1)
	subject.Foreach(func(key, value *ast.Term) { items = append(items, [2]*ast.Term{key, value}) })
	return ast.ObjectTerm(append(items, field("here", f.here(at)))...)
}

// here returns the assignments whose place covers this one.
func (f *subjectForm) here(at reuse.Place) *ast.Term {
	assignments := f.subject.Value.(ast.Object).Get(term("assignments")).Value.(ast.Object)
	var here []*ast.Term
	for _, covering := range at.Covering() {
		if f.facts.Holds(covering) {
			there := assignments.Get(term(covering.Project)).Value.(ast.Object).Get(term(covering.Resource))
			there.Value.(*ast.Array).Foreach(func(assignment *ast.Term) { here = append(here, assignment) })
		}
	}
	return ast.ArrayTerm(here...)
}

// byPlace returns {project: {resource: [assignment, …]}}: a question looks at the places
// that it names, however many there are.
func byPlace(all []resources.HeldRole, now resources.Time) *ast.Term {
	held := make([]*resources.HeldRole, len(all))
	for i := range all {
		held[i] = &all[i]
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
				items[i] = assignmentTerm(here[i], now)
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

// assignmentTerm says whether the assignment runs, so that no rule compares times.
func assignmentTerm(held *resources.HeldRole, now resources.Time) *ast.Term {
	return ast.ObjectTerm(
		text("role", held.RoleID), flag("custom", held.Custom), text("level", level(held)),
		text("role_scope", held.RoleScope), text("role_status", held.RoleStatus), text("status", held.Status),
		end("expires", held.ExpiresAt), flag("running", now < reuse.EndOf(held.ExpiresAt)),
	)
}

// customRoles returns the custom ones among the roles held, in the form of data.grants.
func customRoles(all []resources.HeldRole) *ast.Term {
	roles := map[string]*resources.HeldRole{}
	for i := range all {
		// One role can be held twice, as by two groups. Its permissions are those of one revision.
		if held := &all[i]; held.Custom && roles[held.RoleID] == nil {
			roles[held.RoleID] = held
		}
	}
	return object(roles, func(held *resources.HeldRole) *ast.Term {
		return ast.ObjectTerm(text("scope", held.RoleScope), field("permissions", set(held.Permissions)))
	})
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

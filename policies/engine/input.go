package engine

import (
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// builder makes the parts of one input whose values no two questions share. Its
// terms are one allocation.
type builder struct {
	*words
	asked
	whole, place *ast.Term // input and input.target
	terms        [20]ast.Term
	used         int
}

func newBuilder(w *words) *builder {
	return &builder{
		words: w,
		whole: w.form(w.k.action, w.k.now, w.k.principal, w.k.route, w.k.account, w.k.subject, w.k.target, w.k.grant),
		place: w.form(w.k.account, w.k.project, w.k.projectState, w.k.resource, w.k.rest, w.k.user),
	}
}

// form is an object with the keys, to be filled in for each question.
func (w *words) form(keys ...*ast.Term) *ast.Term {
	o := ast.NewObjectWithCapacity(len(keys))
	for _, key := range keys {
		o.Insert(key, w.blank)
	}
	return settled(ast.NewTerm(o))
}

// fillIn sets every value of a form. The last one is always inserted: that is when OPA takes the object's hash
// anew, of all values, and a term at the same place as before can have another one.
func fillIn(form *ast.Term, items ...[2]*ast.Term) *ast.Term {
	o := form.Value.(ast.Object)
	for i, item := range items {
		if i == len(items)-1 || o.Get(item[0]) != item[1] {
			o.Insert(item[0], item[1])
		}
	}
	return form
}

// inputsPool lends builders to evaluations: the objects of an input are most of what it takes.
type inputsPool struct{ sync.Pool }

func (p *inputsPool) lend(w *words) *builder {
	if b, ok := p.Get().(*builder); ok {
		return b
	}
	return newBuilder(w)
}

// back takes a builder whose input nothing refers to any more. An evaluation that fails gives nothing back: an error
// may tell of the values that it met.
func (p *inputsPool) back(b *builder) {
	for i := range b.terms[:b.used] {
		b.terms[i].Value = b.blank.Value // the forms still hold the term
	}
	b.asked, b.used = asked{}, 0
	p.Put(b)
}

func (b *builder) term(v ast.Value) *ast.Term {
	if b.used == len(b.terms) {
		return ast.NewTerm(v)
	}
	t := &b.terms[b.used]
	b.used++
	t.Value = v
	return t
}

func (b *builder) str(l leaf) *ast.Term {
	if b.texts[l] == "" {
		return b.blank
	}
	return b.term(ast.String(b.texts[l]))
}

// input is what the policy reads. Every key is there: one that is missing would make
// a `not` true.
func (s *Set) input(b *builder, a *asked) *ast.Term {
	b.asked = *a
	known := b.words.subject(a.subject)
	account := known.account
	if named := a.texts[accountNamed]; named != "" {
		account = b.account(named, false, "")
	}
	return fillIn(b.whole,
		[2]*ast.Term{b.k.action, s.action(b.action())}, [2]*ast.Term{b.k.now, b.term(millis(a.now))},
		[2]*ast.Term{b.k.principal, s.principal(b, known)}, [2]*ast.Term{b.k.route, s.routeTerm(a)},
		[2]*ast.Term{b.k.account, account}, [2]*ast.Term{b.k.subject, b.subjectTerm(known)},
		[2]*ast.Term{b.k.grant, b.grant()}, [2]*ast.Term{b.k.target, b.target(account)},
	)
}

func (b *builder) subjectTerm(known *preparedSubject) *ast.Term {
	at := place{b.texts[targetProject], b.texts[targetResource]}
	return known.at(b.words, b.asked.subject, b.now).about(b.words, at)
}

func (b *builder) action() resources.Action {
	return resources.Action{
		ID: b.texts[actionID], Scope: b.texts[actionScope], Resource: b.texts[actionResource], Verb: b.texts[actionVerb],
	}
}

func (b *builder) principal() *ast.Term {
	return b.term(ast.NewObject(
		[2]*ast.Term{b.k.kind, b.word(b.texts[principalKind])},
		[2]*ast.Term{b.k.id, b.str(principalID)}, [2]*ast.Term{b.k.uuid, b.str(principalUUID)},
		[2]*ast.Term{b.k.account, b.str(principalAccount)}, [2]*ast.Term{b.k.scopes, b.set(b.asked.list(principalScopes))},
		[2]*ast.Term{b.k.credential, b.word(b.texts[principalCredential])},
		[2]*ast.Term{b.k.keyScopes, b.set(b.asked.list(principalKeyScopes))},
	))
}

func (b *builder) target(account *ast.Term) *ast.Term {
	named := account.Value.(ast.Object).Get(b.k.id) // nearly always the same
	if named.Value != ast.String(b.texts[targetAccount]) {
		named = b.str(targetAccount)
	}
	return fillIn(b.place,
		[2]*ast.Term{b.k.account, named}, [2]*ast.Term{b.k.project, b.str(targetProject)},
		[2]*ast.Term{b.k.projectState, b.word(b.texts[targetProjectState])},
		[2]*ast.Term{b.k.resource, b.str(targetResource)}, [2]*ast.Term{b.k.rest, b.str(targetRest)},
		[2]*ast.Term{b.k.user, b.str(targetUser)},
	)
}

func (b *builder) grant() *ast.Term {
	permissions := b.asked.list(grantPermissions)
	if len(permissions) == 0 && b.until == 0 {
		return b.noGrant
	}
	return b.grantTerm(permissions, b.until)
}

// routeTerm is the prepared row where the question's row is the catalogue's own, as far
// as the policy sees.
func (s *Set) routeTerm(a *asked) *ast.Term {
	name, effect, access := a.texts[routeName], a.texts[routeEffect], a.list(routeAccess)
	if name == "" && effect == "" && len(access) == 0 {
		return s.words.noRoute
	}
	if p, ok := s.routes[name]; ok && p.effect == effect && slices.Equal(p.access, access) {
		return p.term
	}
	return s.words.route(name, effect, access)
}

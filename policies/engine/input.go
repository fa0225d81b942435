package engine

import (
	"cmp"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// builder makes the parts of one input whose values no two questions share. Its
// terms are one allocation.
type builder struct {
	*words
	terms [20]ast.Term
	used  int
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

func (b *builder) str(s string) *ast.Term {
	if s == "" {
		return b.blank
	}
	return b.term(ast.String(s))
}

// question is the input for a decision or an access check. Every key is there:
// one that is missing would make a `not` true.
func (w *words) question(s *Set, q *resources.Question) *ast.Term {
	b := &builder{words: w}
	return b.input(
		s.action(q.Action), s.routeTerm(&q.Route), w.noGrant,
		b.principal(&q.Principal), b.target(&q.Target, q.Facts.ProjectState),
		q.AccountID, q.Facts.Subject, q.Now,
	)
}

// grant is the input for the question whether a caller may give what they hold.
func (w *words) grant(g *resources.Grant) *ast.Term {
	b := &builder{words: w}
	target := resources.Target{ProjectID: g.ProjectID, Resource: g.ResourceID, Rest: g.ResourceID}
	return b.input(
		w.noAction, w.noRoute, w.grantTerm(g.Permissions, g.Until),
		b.principal(&g.Principal), b.target(&target, g.Facts.ProjectState),
		g.AccountID, g.Facts.Subject, g.Now,
	)
}

func (b *builder) input(
	action, route, grant, principal, target *ast.Term, accountID string, s *resources.Subject, now resources.Time,
) *ast.Term {
	known := b.subject(s)
	account := known.account
	if s == nil && accountID != "" {
		account = b.account(accountID, false, "")
	}
	return b.term(ast.NewObject(
		[2]*ast.Term{b.k.action, action}, [2]*ast.Term{b.k.now, b.term(millis(now))},
		[2]*ast.Term{b.k.principal, principal}, [2]*ast.Term{b.k.route, route},
		[2]*ast.Term{b.k.account, account}, [2]*ast.Term{b.k.subject, known.subject},
		[2]*ast.Term{b.k.target, target}, [2]*ast.Term{b.k.grant, grant},
	))
}

// principal gives scopes to services only and key scopes to keys only, whatever
// the caller filled in.
func (b *builder) principal(p *resources.Principal) *ast.Term {
	scopes, keyScopes := b.none, b.none
	if p.Kind == resources.PrincipalService {
		scopes = b.set(p.Scopes)
	}
	if p.Credential == resources.CredentialKey {
		keyScopes = b.set(p.KeyScopes)
	}
	return b.term(ast.NewObject(
		[2]*ast.Term{b.k.kind, b.word(cmp.Or(p.Kind, resources.PrincipalNone))},
		[2]*ast.Term{b.k.id, b.str(p.ID)}, [2]*ast.Term{b.k.uuid, b.str(p.UUID)},
		[2]*ast.Term{b.k.account, b.str(p.AccountID)}, [2]*ast.Term{b.k.scopes, scopes},
		[2]*ast.Term{b.k.credential, b.word(cmp.Or(p.Credential, resources.CredentialNone))},
		[2]*ast.Term{b.k.keyScopes, keyScopes},
	))
}

func (b *builder) target(t *resources.Target, state string) *ast.Term {
	return b.term(ast.NewObject(
		[2]*ast.Term{b.k.account, b.str(t.AccountID)}, [2]*ast.Term{b.k.project, b.str(t.ProjectID)},
		[2]*ast.Term{b.k.projectState, b.projectState(t.ProjectID, state)},
		[2]*ast.Term{b.k.resource, b.str(t.Resource)}, [2]*ast.Term{b.k.rest, b.str(t.Rest)},
		[2]*ast.Term{b.k.user, b.str(t.UserID)},
	))
}

// projectState is "" without a project; a state that isn't known is as good as absent.
func (b *builder) projectState(project, state string) *ast.Term {
	switch {
	case project == "":
		return b.blank
	case state == resources.ProjectActive, state == resources.ProjectDeleting:
		return b.word(state)
	}
	return b.word(resources.ProjectAbsent)
}

// routeTerm is the prepared row where the question's row is the catalogue's own.
func (s *Set) routeTerm(r *resources.Route) *ast.Term {
	if r.Name == "" && r.Effect == "" && len(r.Access) == 0 {
		return s.words.noRoute
	}
	if p, ok := s.routes[r.Name]; ok && sameRoute(p.route, *r) {
		return p.term
	}
	return s.words.route(r)
}

package engine

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxPrepared bounds the prepared terms of one kind.
const maxPrepared = 4096

// prepared holds parts of the input that questions share, keyed by all that they are made
// of. A part is a pure function of its key, so nothing in it can go stale. It is emptied
// when full: made-up keys cost a rebuild and never its use. Without it every
// question would build eight patterns of its action, and the scopes of its service.
type prepared[K comparable] struct {
	current atomic.Pointer[preparedPage]
}

type preparedPage struct {
	terms sync.Map // K -> *ast.Term, settled
	size  atomic.Int64
}

func newPrepared[K comparable]() *prepared[K] {
	c := &prepared[K]{}
	c.current.Store(&preparedPage{})
	return c
}

func (c *prepared[K]) term(key K, build func() *ast.Term) *ast.Term {
	page := c.current.Load()
	if t, ok := page.terms.Load(key); ok {
		return t.(*ast.Term)
	}
	if page.size.Add(1) > maxPrepared {
		fresh := &preparedPage{}
		c.current.CompareAndSwap(page, fresh)
		page = fresh
	}
	t := build()
	page.terms.Store(key, t)
	return t
}

func (s *Set) action(a resources.Action) *ast.Term {
	if a == (resources.Action{}) {
		return s.words.noAction
	}
	return s.actions.term(a, func() *ast.Term { return s.words.action(a) })
}

// principal is the caller. Services are few, and ask often; users mostly ask as themselves.
func (s *Set) principal(b *builder, known *preparedSubject) *ast.Term {
	switch {
	case b.asksAsSubject():
		return known.caller(b.words, b.asked.subject)
	case b.texts[principalKind] != resources.PrincipalService:
		return b.principal()
	}
	var room [keyRoom]byte
	key := room[:0]
	for l := principalKind; l <= principalCredential; l++ {
		key = appendText(key, b.texts[l])
	}
	for l := principalScopes; l <= principalKeyScopes; l++ {
		key = appendList(key, b.asked.list(l))
	}
	return s.services.term(string(key), func() *ast.Term {
		// Of what is kept nothing belongs to this question: neither its strings nor its facts.
		own := &builder{words: b.words}
		for l := principalKind; l <= principalCredential; l++ {
			own.texts[l] = strings.Clone(b.texts[l])
		}
		for l := principalScopes; l <= principalKeyScopes; l++ {
			for _, scope := range b.asked.list(l) {
				own.lists[l-textLeaves] = append(own.lists[l-textLeaves], strings.Clone(scope))
			}
		}
		return settled(own.principal())
	})
}

// asksAsSubject says whether the caller is, in all that the policy sees, the subject with a token.
func (a *asked) asksAsSubject() bool {
	return a.subject != nil && a.texts[principalKind] == resources.PrincipalUser &&
		a.texts[principalCredential] == resources.CredentialToken && a.texts[principalID] == a.subject.UserID &&
		a.texts[principalUUID] == a.subject.UserUUID && a.texts[principalAccount] == a.subject.AccountID
}

// caller is made of the subject alone, and so kept with it. As of the subject itself, two may make it.
func (p *preparedSubject) caller(w *words, s *resources.Subject) *ast.Term {
	if t := p.signedIn.Load(); t != nil {
		return t
	}
	b := &builder{words: w}
	b.texts[principalKind], b.texts[principalCredential] = resources.PrincipalUser, resources.CredentialToken
	b.texts[principalID], b.texts[principalUUID], b.texts[principalAccount] = s.UserID, s.UserUUID, s.AccountID
	t := settled(b.principal())
	p.signedIn.Store(t)
	return t
}

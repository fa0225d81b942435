package engine

import (
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxActions bounds the prepared actions.
const maxActions = 4096

// actionCache holds actions in the input's form, keyed by all of their fields. The
// form is a pure function of the key, so nothing in it can go stale. It is emptied
// when full: made-up actions cost a rebuild and never its use. Without it every
// question would build eight patterns.
type actionCache struct {
	current atomic.Pointer[actionPage]
}

type actionPage struct {
	terms sync.Map // resources.Action -> *ast.Term, settled
	size  atomic.Int64
}

func newActionCache() *actionCache {
	c := &actionCache{}
	c.current.Store(&actionPage{})
	return c
}

func (s *Set) action(a resources.Action) *ast.Term {
	if a == (resources.Action{}) {
		return s.words.noAction
	}
	page := s.actions.current.Load()
	if t, ok := page.terms.Load(a); ok {
		return t.(*ast.Term)
	}
	if page.size.Add(1) > maxActions {
		fresh := &actionPage{}
		s.actions.current.CompareAndSwap(page, fresh)
		page = fresh
	}
	t := s.words.action(a)
	page.terms.Store(a, t)
	return t
}

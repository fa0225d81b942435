package engine

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
)

// Pinned is the engine by one tree, whatever is brought into force meanwhile. It is for questions that
// are answered together, by one goroutine.
type Pinned struct {
	engine *Engine
	sent   sentTerms
	judged *int
}

// Pin returns the engine by the tree that is in force now.
func (e *Engine) Pin() Pinned {
	p := &Engine{load: e.load, opts: e.opts}
	p.current.Store(e.current.Load())
	return Pinned{p, sentTerms{}, new(int)}
}

// Judged returns how many questions were put to it, whether it had an answer or not.
func (p Pinned) Judged() int { return *p.judged }

// Decide is Engine.Decide.
func (p Pinned) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	*p.judged++
	return p.engine.Decide(ctx, q)
}

// Access is Engine.Access.
func (p Pinned) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	*p.judged++
	return p.engine.Access(ctx, q)
}

// AccessByUser says whether Access for a principal of the kind may depend on the user whom the target names.
func (p Pinned) AccessByUser(kind string) bool {
	return p.engine.current.Load().queries[EntryAccess].plan.Reads(kind, "target.user", "target.about")
}

// Revision names the tree.
func (p Pinned) Revision() string { return p.engine.Revision() }

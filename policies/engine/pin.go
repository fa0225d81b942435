package engine

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// Pinned is the engine by one tree, whichever is brought into force meanwhile. It is for questions that are answered
// together, by one goroutine.
type Pinned struct {
	engine *Engine
	set    *Set
	sent   sentTerms
	judged int
}

// Pin returns the engine by the tree that is in force now.
func (e *Engine) Pin() *Pinned { return &Pinned{engine: e, set: e.current.Load()} }

// Judged returns how many questions were put to it, whether it had an answer or not.
func (p *Pinned) Judged() int { return p.judged }

// Decide is Engine.Decide.
func (p *Pinned) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	p.judged++
	return p.engine.ask(ctx, p.set, p.engine.opts.Gate, p.engine.opts.Deadline, EntryDecision, q)
}

// Access is Engine.Access.
func (p *Pinned) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	p.judged++
	return p.engine.ask(ctx, p.set, p.engine.opts.Gate, p.engine.opts.Deadline, EntryAccess, q)
}

// AccessByUser says whether Access for a principal of the kind may depend on the user whom the target names.
func (p *Pinned) AccessByUser(kind string) bool {
	keyed := p.set.queries[EntryAccess].keyed
	return keyed == nil || slices.ContainsFunc(keyed[question.KnownKind(kind)], func(row *question.Row) bool {
		return row.Path == "target.user" || row.Path == "target.about"
	})
}

// Revision names the tree.
func (p *Pinned) Revision() string { return p.set.Revision() }

package engine

import (
	"context"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// IsCached says whether an entry point's verdicts are cached.
func (s *Set) IsCached(entry string) bool { return s.queries["data.authz."+entry].plan != nil }

// Bring puts a set into force as a reload does.
func (e *Engine) Bring(s *Set) { e.bring(s) }

// DecideApp is Pinned.DecideApp by the tree in force now.
func (e *Engine) DecideApp(ctx context.Context, q resources.Question) (resources.AppDecision, error) {
	return e.Pin().DecideApp(ctx, q)
}

// Copy is the same tree, compiled, with a cache of its own.
func (s *Set) Copy() *Set {
	out := &Set{tree: s.tree, txn: s.txn, noMetadata: s.noMetadata, listed: s.listed, queries: s.queries}
	apps := *s.apps
	out.apps = &apps
	out.bounds.New = func() any { return limits.NewBounds(limits.Pace{}) }
	return out
}

// BringBeside is Bring with the verdicts of the former set. It is a deliberate mistake for tests to detect.
func (e *Engine) BringBeside(s *Set) {
	former := e.current.Load().verdicts
	e.bring(s)
	s.verdicts = former
}

// Unfilled is Judge with the places of the reason as the tree has them, as verdicts are cached.
func (s *Set) Unfilled(ctx context.Context, entry string, q resources.Question, limit time.Duration) (resources.Decision, error) {
	return s.evaluate(ctx, entry, &q, limit)
}

// Keys names the verdicts of a set, by whole keys and by keys that lack a part: one of KeyParts, "" for none.
type Keys struct {
	set   *Set
	plans map[string]map[string]*question.Plan // by part and entry point
}

// NewKeys returns the keys of a set.
func NewKeys(s *Set) *Keys { return &Keys{s, map[string]map[string]*question.Plan{}} }

// Of names the verdict of a question at an entry point; "" where none is cached.
func (k *Keys) Of(part, entry string, q *resources.Question) string {
	plans := k.plans[part]
	if plans == nil {
		plans = map[string]*question.Plan{}
		for entry, q := range k.set.queries {
			if plans[entry] = q.plan; part != "" {
				plans[entry] = KeyParts()[part](q.plan)
			}
		}
		k.plans[part] = plans
	}
	plan := plans["data.authz."+entry]
	if plan == nil {
		return ""
	}
	return string(plan.Key(nil, q))
}

// KeyParts are what tells verdicts apart, by name, each with what makes a plan without it.
func KeyParts() map[string]func(*question.Plan) *question.Plan {
	parts := map[string]func(*question.Plan) *question.Plan{
		"the entry point": func(p *question.Plan) *question.Plan {
			if p != nil {
				p = &question.Plan{ByKind: p.ByKind}
			}
			return p
		},
		"that the tree is no function": func(p *question.Plan) *question.Plan {
			if p == nil {
				p = &question.Plan{ByKind: map[string][]*question.Row{}}
				for _, kind := range principalKinds() {
					p.ByKind[kind] = question.AllRows()
				}
				p = omit(p, "now")
			}
			return p
		},
	}
	for _, kind := range principalKinds() {
		parts["that not every principal is a "+kind] = func(p *question.Plan) *question.Plan {
			if p == nil {
				return nil
			}
			same := &question.Plan{Entry: p.Entry, ByKind: map[string][]*question.Row{}}
			for other := range p.ByKind {
				same.ByKind[other] = p.ByKind[kind]
			}
			return same
		}
	}
	for _, row := range question.Table() {
		if row.Path != "now" { // which no plan has
			parts[row.Path] = func(p *question.Plan) *question.Plan { return omit(p, row.Path) }
		}
	}
	return parts
}

func principalKinds() []string {
	return []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone}
}

// omit returns a plan whose keys lack a row.
func omit(p *question.Plan, path string) *question.Plan {
	if p == nil {
		return nil
	}
	less := &question.Plan{Entry: p.Entry, ByKind: map[string][]*question.Row{}}
	for kind, rows := range p.ByKind {
		less.ByKind[kind] = slices.DeleteFunc(slices.Clone(rows), func(row *question.Row) bool { return row.Path == path })
	}
	return less
}

// SpoilApps changes the plans of the apps in force.
func (e *Engine) SpoilApps(change func(*question.AppPlan)) {
	for _, a := range e.current.Load().apps.all {
		change(a.plan)
	}
}

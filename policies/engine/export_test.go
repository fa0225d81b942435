package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// IsCached says whether an entry point's verdicts are cached.
func (s *Set) IsCached(entry string) bool { return s.queries["data.authz."+entry].keyed != nil }

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
	set     *Set
	queries map[string]map[string]*query // by part and entry point
}

// NewKeys returns the keys of a set.
func NewKeys(s *Set) *Keys { return &Keys{s, map[string]map[string]*query{}} }

// Of names the verdict of a question at an entry point; "" where none is cached.
func (k *Keys) Of(part, entry string, q *resources.Question) string {
	queries := k.queries[part]
	if queries == nil {
		queries = map[string]*query{}
		for entry, whole := range k.set.queries {
			less := *whole
			if part != "" {
				KeyParts()[part](&less)
			}
			queries[entry] = &less
		}
		k.queries[part] = queries
	}
	asked := queries["data.authz."+entry]
	if asked.keyed == nil {
		return ""
	}
	return string(asked.key(nil, q))
}

// KeyParts are what tells verdicts apart, by name, each with what takes it out of an entry point's keys.
func KeyParts() map[string]func(*query) {
	parts := map[string]func(*query){
		"the entry point": func(asked *query) { asked.number = 0 },
		"that the tree is no function": func(asked *query) {
			if asked.keyed == nil {
				asked.keyed = map[string][]*question.Row{}
				for _, kind := range principalKinds() {
					asked.keyed[kind] = question.AllRows()
				}
				asked.omit("now")
			}
		},
	}
	for _, kind := range principalKinds() {
		parts["that not every principal is a "+kind] = func(asked *query) {
			same := maps.Clone(asked.keyed)
			for other := range same {
				same[other] = asked.keyed[kind]
			}
			asked.keyed = same
		}
	}
	for _, row := range question.Table() {
		if row.Path != "now" { // which no key has
			parts[row.Path] = func(asked *query) { asked.omit(row.Path) }
		}
	}
	return parts
}

func principalKinds() []string {
	return []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone}
}

// omit takes a row out of the keys.
func (asked *query) omit(path string) {
	asked.keyed = maps.Clone(asked.keyed)
	for kind, rows := range asked.keyed {
		asked.keyed[kind] = slices.DeleteFunc(slices.Clone(rows), func(row *question.Row) bool { return row.Path == path })
	}
}

// SpoilApps changes the plans of the apps in force.
func (e *Engine) SpoilApps(change func(*question.AppPlan)) {
	for _, a := range e.current.Load().apps.all {
		change(a.plan)
	}
}

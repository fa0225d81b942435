package engine

import (
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Memoised says whether an entry point's verdicts are reused.
func (s *Set) Memoised(entry string) bool { return s.queries["data.authz."+entry].key != nil }

// InputPaths are the parts of the input that the key knows.
func InputPaths() map[string]bool {
	out := map[string]bool{}
	for _, p := range inputPaths() {
		out[p.path] = true
	}
	return out
}

// Bring puts a set into force as a reload does.
func (e *Engine) Bring(s *Set) { e.bring(s) }

// Copy is the same tree, compiled, with plans for keys of its own.
func (s *Set) Copy() *Set {
	out := &Set{
		revision: s.revision, catalogue: s.catalogue, compiler: s.compiler, store: s.store, txn: s.txn, base: s.base, noMetadata: s.noMetadata,
		queries: map[string]*query{}, words: s.words, actions: s.actions, services: s.services, routes: s.routes,
	}
	out.values.New, out.bounds.New = newRuleValues, s.bounds.New
	for entry, q := range s.queries {
		same := *q
		if q.key != nil {
			plan := *q.key
			plan.leaves, plan.byKind = slices.Clone(plan.leaves), slices.Clone(plan.byKind)
			for i, k := range plan.byKind {
				plan.byKind[i].leaves = slices.Clone(k.leaves)
			}
			same.key = &plan
		}
		out.queries[entry] = &same
	}
	return out
}

// Mutants are engines whose memo mistakes some question for another: each spoils the
// set in force.
func Mutants() map[string]func(*Engine) {
	mutants := map[string]func(*Engine){
		"the entry point": func(e *Engine) {
			e.spoil(func(p *keyPlan) { p.entry = 0 })
		},
		"that the tree is no function": func(e *Engine) {
			for _, q := range e.current.Load().queries {
				if q.key == nil {
					q.key = &keyPlan{}
					for l := range allLeaves {
						q.key.leaves = append(q.key.leaves, l)
					}
				}
			}
		},
	}
	for _, kind := range kinds() {
		mutants["that not every principal is a "+kind] = func(e *Engine) {
			e.spoil(func(p *keyPlan) { p.leaves, p.byKind = p.leavesFor(kind), nil })
		}
	}
	kept := map[*Engine]*verdicts{}
	mutants["the revision"] = func(e *Engine) {
		set := e.current.Load()
		if kept[e] == nil {
			kept[e] = set.memo
		}
		set.memo = kept[e]
	}
	for name, l := range map[string]leaf{
		"principal.kind": principalKind, "principal.id": principalID, "principal.uuid": principalUUID, "principal.account": principalAccount,
		"principal.credential": principalCredential, "principal.scopes": principalScopes, "principal.key_scopes": principalKeyScopes,
		"action.id": actionID, "action.scope": actionScope, "action.resource": actionResource, "action.verb": actionVerb,
		"route.name": routeName, "route.effect": routeEffect, "route.access": routeAccess,
		"target.account": targetAccount, "target.project": targetProject, "target.project_state": targetProjectState,
		"target.resource": targetResource, "target.rest": targetRest, "target.user": targetUser,
		"grant.permissions": grantPermissions, "grant.until": grantUntil,
		"the account without facts": accountNamed, "the facts": subjectFacts, "the period": period, "the place": here,
	} {
		mutants[name] = func(e *Engine) {
			e.spoil(func(p *keyPlan) {
				gone := func(other leaf) bool { return other == l }
				p.leaves = slices.DeleteFunc(p.leaves, gone)
				for i := range p.byKind {
					p.byKind[i].leaves = slices.DeleteFunc(p.byKind[i].leaves, gone)
				}
			})
		}
	}
	return mutants
}

func (e *Engine) spoil(change func(*keyPlan)) {
	for _, q := range e.current.Load().queries {
		if q.key != nil {
			change(q.key)
		}
	}
}

// Key is what names the question's verdict.
func (s *Set) Key(entry string, q *resources.Question) []byte {
	var a asked
	a.question(q)
	return s.key(nil, "data.authz."+entry, &a)
}

package engine

import (
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/builtins"
	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// IsCached says whether an entry point's verdicts are cached.
func (s *Set) IsCached(entry string) bool { return s.queries["data.authz."+entry].plan != nil }

// Bring puts a set into force as a reload does.
func (e *Engine) Bring(s *Set) { e.bring(s) }

// Key is what names the question's verdict.
func (s *Set) Key(entry string, q *resources.Question) []byte {
	in := reuse.OfQuestion(q)
	return s.queries["data.authz."+entry].plan.Key(nil, &in, &newSubjects().form(in.Subject, in.Now).facts)
}

// Copy is the same tree, compiled, with plans for keys of its own.
func (s *Set) Copy() *Set {
	out := &Set{of: s.of, txn: s.txn, noMetadata: s.noMetadata, listed: s.listed, queries: map[string]*query{}}
	apps := *s.apps
	out.apps = &apps
	out.bounds.New = func() any { return builtins.NewBounds() }
	for entry, q := range s.queries {
		same := *q
		if q.plan != nil {
			plan := *q.plan
			plan.Values, plan.ByKind = slices.Clone(plan.Values), maps.Clone(plan.ByKind)
			for kind, values := range plan.ByKind {
				plan.ByKind[kind] = slices.Clone(values)
			}
			same.plan = &plan
		}
		out.queries[entry] = &same
	}
	return out
}

// Mutants are engines whose cache mistakes some question for another: each spoils the
// set in force.
func Mutants() map[string]func(*Engine) {
	mutants := map[string]func(*Engine){
		"the entry point": func(e *Engine) {
			e.spoil(func(p *reuse.Plan) { p.Entry = 0 })
		},
		"that the tree is no function": func(e *Engine) {
			for _, q := range e.current.Load().queries {
				if q.plan == nil {
					q.plan = &reuse.Plan{}
					for v := range reuse.Here + 1 {
						q.plan.Values = append(q.plan.Values, v)
					}
				}
			}
		},
	}
	for _, kind := range []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone} {
		mutants["that not every principal is a "+kind] = func(e *Engine) {
			e.spoil(func(p *reuse.Plan) { p.Values, p.ByKind = p.ByKind[kind], nil })
		}
	}
	former := map[*Engine]*verdicts{}
	mutants["the revision"] = func(e *Engine) {
		set := e.current.Load()
		if former[e] == nil {
			former[e] = set.verdicts
		}
		set.verdicts = former[e]
	}
	for name, v := range map[string]reuse.Value{
		"principal.kind": reuse.PrincipalKind, "principal.id": reuse.PrincipalID, "principal.uuid": reuse.PrincipalUUID,
		"principal.account": reuse.PrincipalAccount, "principal.credential": reuse.PrincipalCredential,
		"principal.scopes": reuse.PrincipalScopes, "principal.key_scopes": reuse.PrincipalKeyScopes,
		"action.id": reuse.ActionID, "action.scope": reuse.ActionScope, "action.resource": reuse.ActionResource, "action.verb": reuse.ActionVerb,
		"route.name": reuse.RouteName, "route.effect": reuse.RouteEffect, "route.access": reuse.RouteAccess,
		"target.account": reuse.TargetAccount, "target.project": reuse.TargetProject, "target.project_state": reuse.TargetProjectState,
		"target.resource": reuse.TargetResource, "target.rest": reuse.TargetRest, "target.user": reuse.TargetUser,
		"grant.permissions": reuse.GrantPermissions, "grant.until": reuse.GrantUntil,
		"the account without facts": reuse.AccountNamed, "the facts": reuse.SubjectFacts, "the period": reuse.Period, "the place": reuse.Here,
	} {
		mutants[name] = func(e *Engine) {
			e.spoil(func(p *reuse.Plan) {
				gone := func(other reuse.Value) bool { return other == v }
				p.Values = slices.DeleteFunc(p.Values, gone)
				for kind, values := range p.ByKind {
					p.ByKind[kind] = slices.DeleteFunc(values, gone)
				}
			})
		}
	}
	return mutants
}

func (e *Engine) spoil(change func(*reuse.Plan)) {
	for _, q := range e.current.Load().queries {
		if q.plan != nil {
			change(q.plan)
		}
	}
}

// Forms is how many subjects have a form.
func (e *Engine) Forms() (n int) {
	e.subjects.forms.Range(func(any, any) bool { n++; return true })
	return n
}

// SpoilApps changes the plans of the apps in force.
func (e *Engine) SpoilApps(change func(*reuse.AppPlan)) {
	for _, a := range e.current.Load().apps.all {
		change(a.plan)
	}
}

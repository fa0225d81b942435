package engine

import (
	"slices"

	"github.com/portcullis-authz/portcullis/policies/builtins"
	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// IsCached says whether an entry point's verdicts are cached.
func (s *Set) IsCached(entry string) bool { return s.queries["data.authz."+entry].plan != nil }

// Bring puts a set into force as a reload does.
func (e *Engine) Bring(s *Set) { e.bring(s) }

// Copy is the same tree, compiled, with a cache of its own.
func (s *Set) Copy() *Set {
	out := &Set{of: s.of, txn: s.txn, noMetadata: s.noMetadata, listed: s.listed, queries: s.queries}
	apps := *s.apps
	out.apps = &apps
	out.bounds.New = func() any { return builtins.NewBounds() }
	return out
}

// BringBeside is Bring with the verdicts of the set that was in force: a mistake, which tests have to find out.
func (e *Engine) BringBeside(s *Set) {
	former := e.current.Load().verdicts
	e.bring(s)
	s.verdicts = former
}

// Keys names the verdicts of a set, by whole keys and by keys that lack a part: one of KeyParts, "" for none.
type Keys struct {
	set   *Set
	known *subjects
	plans map[string]map[string]*reuse.Plan // by part and entry point
}

// NewKeys returns the keys of a set.
func NewKeys(s *Set) *Keys { return &Keys{s, newSubjects(), map[string]map[string]*reuse.Plan{}} }

// OfQuestion names the verdict of a question at decision or access; "" where none is cached.
func (k *Keys) OfQuestion(without, entry string, q *resources.Question) string {
	return k.of(without, "data.authz."+entry, reuse.OfQuestion(q))
}

// OfGrant names the verdict of a grant; "" where none is cached.
func (k *Keys) OfGrant(without string, g *resources.Grant) string {
	return k.of(without, EntryGrantable, reuse.OfGrant(g))
}

func (k *Keys) of(part, entry string, in reuse.Inputs) string {
	plans := k.plans[part]
	if plans == nil {
		plans = map[string]*reuse.Plan{}
		for entry, q := range k.set.queries {
			if plans[entry] = q.plan; part != "" {
				plans[entry] = KeyParts()[part](q.plan)
			}
		}
		k.plans[part] = plans
	}
	if plans[entry] == nil {
		return ""
	}
	return string(plans[entry].Key(nil, &in, &k.known.form(in.Subject, in.Now).facts))
}

// KeyParts are what tells verdicts apart, by name, each with what makes a plan without it.
func KeyParts() map[string]func(*reuse.Plan) *reuse.Plan {
	parts := map[string]func(*reuse.Plan) *reuse.Plan{
		"the entry point": func(p *reuse.Plan) *reuse.Plan {
			if p != nil {
				p = &reuse.Plan{Values: p.Values, ByKind: p.ByKind}
			}
			return p
		},
		"that the tree is no function": func(p *reuse.Plan) *reuse.Plan {
			if p == nil {
				p = &reuse.Plan{}
				for v := range reuse.Here + 1 {
					p.Values = append(p.Values, v)
				}
			}
			return p
		},
	}
	for _, kind := range []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone} {
		parts["that not every principal is a "+kind] = func(p *reuse.Plan) *reuse.Plan {
			if p != nil {
				p = &reuse.Plan{Entry: p.Entry, Values: p.ByKind[kind]}
			}
			return p
		}
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
		parts[name] = func(p *reuse.Plan) *reuse.Plan { return without(p, v) }
	}
	return parts
}

// without is a plan whose keys lack a value.
func without(p *reuse.Plan, v reuse.Value) *reuse.Plan {
	if p == nil {
		return nil
	}
	gone := func(other reuse.Value) bool { return other == v }
	less := &reuse.Plan{Entry: p.Entry, Values: slices.DeleteFunc(slices.Clone(p.Values), gone), ByKind: map[string][]reuse.Value{}}
	for kind, values := range p.ByKind {
		less.ByKind[kind] = slices.DeleteFunc(slices.Clone(values), gone)
	}
	return less
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

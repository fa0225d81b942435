package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/builtins"
	"github.com/portcullis-authz/portcullis/policies/question"
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

// Unfilled is Judge with the places of the reason as the tree has them, as verdicts are cached.
func (s *Set) Unfilled(ctx context.Context, entry string, q resources.Question, within time.Duration) (resources.Decision, error) {
	in := question.Of(&q)
	return s.evaluate(ctx, entry, &in, within)
}

// Keys names the verdicts of a set, by whole keys and by keys that lack a part: one of PartsOfKeys, "" for none.
type Keys struct {
	set   *Set
	plans map[string]map[string]*question.Plan // by part and entry point
}

// NewKeys returns the keys of a set.
func NewKeys(s *Set) *Keys { return &Keys{s, map[string]map[string]*question.Plan{}} }

// Of names the verdict of a question at an entry point; "" where none is cached.
func (k *Keys) Of(part, entry string, q *resources.Question) string {
	if alike := hereParts()[part]; alike != nil {
		rest := k.Of(here, entry, q)
		if rest == "" {
			return ""
		}
		return rest + k.Of(onlyHere, entry, alikeHere(q, alike))
	}
	plans := k.plans[part]
	if plans == nil {
		plans = map[string]*question.Plan{}
		for entry, q := range k.set.queries {
			switch part {
			case "":
				plans[entry] = q.plan
			case onlyHere:
				plans[entry] = filtered(q.plan, func(path string) bool { return path == here })
			default:
				plans[entry] = KeyParts()[part](q.plan)
			}
		}
		k.plans[part] = plans
	}
	plan := plans["data.authz."+entry]
	if plan == nil {
		return ""
	}
	in := question.Of(q)
	return string(plan.Key(nil, &in))
}

const here, onlyHere = "subject.here", "only subject.here"

// hereParts are the members of an assignment in subject.here, each with what makes it alike for all assignments.
func hereParts() map[string]func(q *resources.Question, h *resources.HeldRole) {
	return map[string]func(q *resources.Question, h *resources.HeldRole){
		here + "[].role":           func(_ *resources.Question, h *resources.HeldRole) { h.RoleID = "" },
		here + "[].custom":         func(_ *resources.Question, h *resources.HeldRole) { h.Custom = true },
		here + "[].permissions":    func(_ *resources.Question, h *resources.HeldRole) { h.Permissions = nil },
		here + "[].role_scope":     func(_ *resources.Question, h *resources.HeldRole) { h.RoleScope = "" },
		here + "[].role_status":    func(_ *resources.Question, h *resources.HeldRole) { h.RoleStatus = "" },
		here + "[].status":         func(_ *resources.Question, h *resources.HeldRole) { h.Status = "" },
		here + "[].outlasts_grant": func(q *resources.Question, _ *resources.HeldRole) { q.Grant = nil },
		here + "[].running": func(q *resources.Question, h *resources.HeldRole) {
			if question.EndOf(h.ExpiresAt) <= q.Now {
				h.ExpiresAt = q.Now + 1
			}
		},
		here + "[].level": func(q *resources.Question, h *resources.HeldRole) {
			if h.ProjectID == q.Target.ProjectID && (h.ResourceID == "" || h.ResourceID == q.Target.Resource && h.ProjectID != "") {
				h.ProjectID, h.ResourceID = "", ""
			}
		},
	}
}

// alikeHere returns the question with assignments that are made alike.
func alikeHere(q *resources.Question, alike func(*resources.Question, *resources.HeldRole)) *resources.Question {
	changed := *q
	if q.Facts.Subject == nil {
		return &changed
	}
	subject := q.Facts.Subject.Clone()
	subject.Assignments = slices.Clone(subject.Assignments)
	for i := range subject.Assignments {
		alike(&changed, &subject.Assignments[i])
	}
	changed.Facts.Subject = subject
	return &changed
}

// PartsOfKeys returns the names of all that tells verdicts apart.
func PartsOfKeys() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(KeyParts())), maps.Keys(hereParts()))))
}

// KeyParts are what tells verdicts apart, by name, each with what makes a plan without it. Those of subject.here's
// assignments are hereParts.
func KeyParts() map[string]func(*question.Plan) *question.Plan {
	parts := map[string]func(*question.Plan) *question.Plan{
		"the entry point": func(p *question.Plan) *question.Plan {
			if p != nil {
				p = &question.Plan{ByKind: p.ByKind, Compared: p.Compared}
			}
			return p
		},
		"that the tree is no function": func(p *question.Plan) *question.Plan {
			if p == nil {
				p = &question.Plan{ByKind: map[string]question.Rows{}}
				for _, kind := range principalKinds() {
					p.ByKind[kind] = question.All()
				}
				p = without(p, "now")
			}
			return p
		},
	}
	for _, kind := range principalKinds() {
		parts["that not every principal is a "+kind] = func(p *question.Plan) *question.Plan {
			if p == nil {
				return nil
			}
			same := &question.Plan{Entry: p.Entry, ByKind: map[string]question.Rows{}, Compared: p.Compared}
			for other := range p.ByKind {
				same.ByKind[other] = p.ByKind[kind]
			}
			return same
		}
	}
	for _, row := range question.Table() {
		parts[row.Path] = func(p *question.Plan) *question.Plan { return without(p, row.Path) }
	}
	parts["a constant"] = lessCompared(func(c *question.Compared) {
		c.Constants = slices.DeleteFunc(slices.Clone(c.Constants), func(v ast.Value) bool { _, isText := v.(ast.String); return isText })
	})
	parts["a time"] = lessCompared(func(c *question.Compared) {
		c.Constants = slices.DeleteFunc(slices.Clone(c.Constants), func(v ast.Value) bool { _, isTime := v.(ast.Number); return isTime })
	})
	return parts
}

// lessCompared is a plan whose keys do not tell some texts apart.
func lessCompared(change func(*question.Compared)) func(*question.Plan) *question.Plan {
	return func(p *question.Plan) *question.Plan {
		if p == nil {
			return nil
		}
		less := &question.Plan{Entry: p.Entry, ByKind: p.ByKind, Compared: map[int]*question.Compared{}}
		for i, of := range p.Compared {
			copied := *of
			change(&copied)
			less.Compared[i] = &copied
		}
		return less
	}
}

func principalKinds() []string {
	return []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone}
}

// without is a plan whose keys lack a row.
func without(p *question.Plan, path string) *question.Plan {
	return filtered(p, func(other string) bool { return other != path })
}

// filtered is a plan whose keys have some of its rows.
func filtered(p *question.Plan, has func(path string) bool) *question.Plan {
	if p == nil {
		return nil
	}
	less := &question.Plan{Entry: p.Entry, ByKind: map[string]question.Rows{}, Compared: p.Compared}
	for kind, rows := range p.ByKind {
		less.ByKind[kind] = slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return !has(question.Table()[i].Path) })
	}
	return less
}

// SpoilApps changes the plans of the apps in force.
func (e *Engine) SpoilApps(change func(*question.AppPlan)) {
	for _, a := range e.current.Load().apps.all {
		change(a.plan)
	}
}

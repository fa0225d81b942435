package matrix

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Answer is what an entry point answers.
type Answer struct {
	Allow  bool   `json:"allow"`
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason"`
}

// Row is a difference: questions that one tree answers otherwise than the other.
type Row struct {
	Entry      string `json:"entry"`
	Route      string `json:"route,omitempty"`
	Action     string `json:"action,omitempty"`
	Caller     string `json:"caller"`
	Credential string `json:"credential"`
	// States are, for each condition of the questions, the values that it has in some of them.
	States map[string][]string `json:"states"`
	// Role and Place are empty where the difference is there whatever the user holds.
	Role  string `json:"role,omitempty"`
	Place string `json:"place,omitempty"`
	Old   Answer `json:"old"`
	New   Answer `json:"new"`
}

// Difference is all that two trees answer differently.
type Difference struct {
	// Rows are differences that questions show which can be asked; Unreachable those that no question shows.
	Rows, Unreachable []Row
	Gaps              []Gap
	// Unasked says that an entry point was not asked at all: the gaps say why.
	Unasked bool
	// Questions is how many questions were compared, Evaluations how many evaluations that took.
	Questions, Evaluations int
}

// Compare asks both trees all questions, at so many entry points at once.
func Compare(ctx context.Context, old, fresh *engine.Set, atOnce int) (*Difference, error) {
	c, err := newComparison(ctx, old, fresh)
	if err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	free := make(chan struct{}, atOnce)
	found, errs := make([]Difference, len(asks())), make([]error, len(asks()))
	equal := true
	for i, of := range asks() {
		if c.equal(of.rule) {
			continue
		}
		equal = false
		free <- struct{}{}
		wait.Go(func() {
			found[i], errs[i] = c.compare(ctx, of)
			<-free
		})
	}
	wait.Wait()
	all := &Difference{Gaps: c.gaps}
	for _, of := range found {
		all.Rows = append(all.Rows, of.Rows...)
		all.Unreachable = append(all.Unreachable, of.Unreachable...)
		all.Gaps = append(all.Gaps, of.Gaps...)
		all.Unasked = all.Unasked || of.Unasked
		all.Questions += of.Questions
		all.Evaluations += of.Evaluations
	}
	if equal {
		all.Gaps = nil // nothing was left out of nothing
	}
	unseen, err := unasked(ctx, old, fresh)
	if err != nil {
		return nil, err
	}
	all.Gaps = append(all.Gaps, unseen...)
	slices.SortFunc(all.Gaps, func(a, b Gap) int { return strings.Compare(a.At+a.Reads+a.LeftOut, b.At+b.Reads+b.LeftOut) })
	all.Gaps = slices.Compact(all.Gaps)
	return all, errors.Join(errors.Join(errs...), ctx.Err()) // what was given up found nothing
}

// ask is what is compared: a rule, by the questions that an entry point gets.
type ask struct{ entry, rule string }

// asks returns the entry points, and what an explanation tells beside the decision.
func asks() (out []ask) {
	for _, entry := range engine.EntryPoints() {
		out = append(out, ask{entry, entry})
	}
	return append(out, ask{engine.EntryDecision, "data.authz.conditions"}, ask{engine.EntryDecision, "data.authz.told"})
}

// comparison is of two trees.
type comparison struct {
	sets   [2]*engine.Set
	rules  [2]*rules
	consts constants
	gaps   []Gap
	opaque bool
	// counted says that rules of a tree compare a number of a grant's permissions with one that is not none.
	counted bool
	roles   [2]map[string]*resources.Role
	scopes  map[string]string // of the system roles of both
}

func newComparison(ctx context.Context, old, fresh *engine.Set) (*comparison, error) {
	c := &comparison{sets: [2]*engine.Set{old, fresh}, consts: constants{}, opaque: true, scopes: map[string]string{}}
	for i, set := range c.sets {
		r, err := newRules(ctx, set)
		if err != nil {
			return nil, err
		}
		defer r.close(ctx)
		c.rules[i] = r
		f := r.follow(func(ref ast.Ref) ([]string, error) { return r.strings(ctx, ref) })
		if f.err != nil {
			return nil, f.err
		}
		c.consts.add(f.compared)
		c.opaque, c.counted = c.opaque && f.opaque, c.counted || f.many
		c.gaps = append(append(c.gaps, slices.Collect(maps.Keys(f.gaps))...), r.unsteady()...)
		c.roles[i] = map[string]*resources.Role{}
		roles := set.Roles()
		for n := range roles {
			c.roles[i][roles[n].ID] = &roles[n]
			c.scopes[roles[n].ID] = roles[n].Scope
		}
	}
	return c, nil
}

// strings returns the texts in a document of the tree.
func (r *rules) strings(ctx context.Context, ref ast.Ref) (out []string, err error) {
	value, err := r.value(ctx, ref)
	if err != nil || value == nil {
		return nil, err
	}
	ast.WalkTerms(ast.NewTerm(value), func(t *ast.Term) bool {
		if text, ok := t.Value.(ast.String); ok {
			out = append(out, string(text))
		}
		return false
	})
	return out, nil
}

// equal says that no question can have two answers by the rule of that name.
func (c *comparison) equal(entry string) bool {
	old, fresh := c.rules[0].groups[entry], c.rules[1].groups[entry]
	if !slices.Contains(engine.EntryPoints(), entry) {
		return old.print == fresh.print
	}
	if old.print != fresh.print || c.sets[0].Strict() != c.sets[1].Strict() || c.sets[0].Strict() && !sameActions(c.sets) {
		return false
	}
	return entry != engine.EntryAccess || slices.EqualFunc(c.sets[0].Routes(), c.sets[1].Routes(), func(a, b resources.Route) bool {
		return placeOf(&a) == placeOf(&b) && a.Action == b.Action && a.Effect == b.Effect && slices.Equal(a.Access, b.Access)
	})
}

// sameActions says whether both trees list the same actions.
func sameActions(sets [2]*engine.Set) bool {
	return slices.EqualFunc(sets[0].Actions(), sets[1].Actions(), func(a, b resources.ListedAction) bool { return a.ID == b.ID })
}

// actions returns all that either tree lists or compares with, and ones that no tree lists: of each scope, with each verb.
func (c *comparison) actions() (out []resources.Action) {
	ids := append(c.consts.texts(nil, "action.id", "action.patterns"), c.regranted()...)
	for _, set := range c.sets {
		for _, listed := range set.Actions() {
			ids = append(ids, listed.ID)
		}
	}
	for _, scope := range []string{resources.ScopeAccount, resources.ScopeProject, resources.ScopeResource} {
		for _, resource := range c.consts.texts([]string{unknownResource}, "action.resource") {
			for _, verb := range c.consts.texts([]string{unknownVerb}, "action.verb") {
				ids = append(ids, scope+":"+resource+":"+verb)
			}
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if action, err := resources.ParseAction(id); err == nil {
			out = append(out, action)
		}
	}
	return out
}

// askings returns what can be asked at an entry point.
func (c *comparison) askings(entry string) (out []asking) {
	if entry == engine.EntryGrantable {
		return []asking{{}}
	}
	for _, action := range c.actions() {
		row := &resources.Route{Name: resources.RouteNamed, Path: "/{rest+}", Effect: resources.EffectWrite}
		if entry == engine.EntryDecision {
			row = &resources.Route{}
		}
		out = append(out, asking{old: row, fresh: row, name: row.Name, action: [2]resources.Action{action, action}})
	}
	if entry == engine.EntryDecision {
		return out
	}
	rows := map[string]*asking{}
	for side, set := range c.sets {
		for _, row := range set.Routes() {
			of := rows[placeOf(&row)]
			if of == nil {
				of = &asking{name: row.Name}
				rows[placeOf(&row)] = of
			}
			if of.action[side], _ = resources.ParseAction(row.Action); side == 0 {
				of.old = &row
			} else {
				of.fresh = &row
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[name])
	}
	return append(out, inherited(c.sets[0].Routes(), c.sets[1].Routes())...)
}

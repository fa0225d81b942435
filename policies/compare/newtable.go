package compare

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// newTable enumerates the values of each part and numbers them. An error is errTooMany or the context's.
func (c *comparison) newTable(ctx context.Context, r root) (*table, error) {
	if c.consts.tooManyValues(r.entry == engine.EntryDecision) {
		return nil, errTooMany
	}
	t := &table{
		ctx: ctx, root: r, readsUser: c.reads(r.rule, "target.user"), ids: map[string]int{},
		memos: map[string]map[string]int{}, classes: map[[parts]int][]class{}, assignmentIDs: map[held][]int{},
		answers: map[int]Answer{}, closed: map[int]bool{}, rules: c.rules, nodeOf: map[*group]*node{},
		requests: c.mergeRequests(c.requests(r.entry)), persons: c.consts.people(r.entry == engine.EntryDecision, c.reads(r.rule, "principal.scopes")), targets: c.consts.targets(),
	}
	sets, ends := [][]string{nil}, []resources.Time{0, ended}
	if r.entry == engine.EntryGrantable {
		sets, ends = c.permissionSets(), append(ends, Later)
	}
	t.grants = c.consts.grantCases(sets)
	t.dropUnasked()
	t.holdings = c.consts.holdings(c.scopes, c.representatives(t), t.patterns(), ends, c.combined)
	if t.holdings == nil {
		return nil, errTooMany
	}
	t.addNodes(0)
	t.addNodes(1)
	t.numberReads()
	if err := ctx.Err(); err != nil { // the numbers are incomplete
		return nil, err
	}
	t.mergeValues()
	if len(t.requests)*len(t.persons)*len(t.targets)*len(t.grants) > mostPoints {
		return nil, errTooMany
	}
	t.places = numbered(len(t.targets), func(i int) [2]string {
		return [2]string{t.targets[i].target.ProjectID, t.targets[i].target.Resource}
	})
	t.times = numbered(len(t.grants), func(i int) [2]resources.Time { return [2]resources.Time{t.grants[i].now, t.grants[i].until} })
	t.classKeys = t.projectReads(t.holders, t.classContext)
	return t, ctx.Err()
}

// reads says whether the rule of either tree, or a rule that it depends on, reads the row at the path.
func (c *comparison) reads(rule, path string) bool {
	for _, r := range c.rules {
		if slices.ContainsFunc(withDependencies(r.groups[rule]), func(g *group) bool { return g.readsRow(path) }) {
			return true
		}
	}
	return false
}

// dropUnasked removes values that the gateway never asks about at this entry point.
func (t *table) dropUnasked() {
	if t.entry == engine.EntryGrantable {
		t.targets = slices.DeleteFunc(t.targets, func(p target) bool {
			return p.target.AccountID != "" || p.target.UserID != "" || p.target.Rest != p.target.Resource
		})
		return
	}
	t.grants = slices.DeleteFunc(t.grants, func(g grantCase) bool { return g.until != 0 })
	for i := range t.grants {
		t.grants[i].states = nil
	}
}

// patterns returns the patterns that rules look up at any point, except *:*:*.
func (t *table) patterns() (out []string) {
	for i := range t.sizes()[t.lookupPart()] {
		out = append(out, t.patternsOf(i)...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p string) bool { return p == "*:*:*" })
}

// generalisations returns the patterns that contain a permission of the set.
func generalisations(set []string) (out []string) {
	for _, permission := range set {
		if pattern, err := resources.ParsePattern(permission); err == nil {
			all := pattern.Patterns()
			out = append(out, all[:]...)
		}
	}
	return out
}

// permissionSets returns the sets of permissions to grant: the empty one, each permission alone, and those of small
// system roles.
func (c *comparison) permissionSets() (out [][]string) {
	const largest = 16
	out = append(out, nil)
	singles := c.consts.texts(nil, "grant.permissions")
	for _, action := range c.actions() {
		singles = append(singles, action.ID)
	}
	for _, roles := range c.roles {
		for _, id := range slices.Sorted(maps.Keys(roles)) {
			if held := roles[id].Permissions; len(held) <= largest && len(roles) <= 2*largest {
				singles = append(singles, held...)
				out = append(out, held)
			}
		}
	}
	for _, scope := range []string{resources.ScopeAccount, resources.ScopeProject, resources.ScopeResource, "*"} {
		for _, verb := range c.consts.texts([]string{"*"}, "action.verb") {
			singles = append(singles, scope+":*:"+verb)
		}
	}
	slices.Sort(singles)
	seen, kinds := map[string]bool{}, []string{}
	for _, permission := range slices.Compact(singles) {
		pattern, err := resources.ParsePattern(permission)
		if kind := c.actionKind(pattern); err == nil && !seen[kind] {
			seen[kind] = true
			kinds = append(kinds, permission)
		}
	}
	for _, permission := range kinds {
		out = append(out, []string{permission})
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// representatives returns the system roles that the comparison holds in place of all. For each request or grant it
// notes in the table which role each one is represented by.
func (c *comparison) representatives(t *table) []string {
	texts, all, fixed := c.consts.texts(nil, "subject.here.role"), map[string]bool{}, c.consts.patternsAmong()
	ids := slices.Sorted(maps.Keys(c.scopes))
	represent := func(patterns []string) (map[string]string, bool) {
		out, first, same := map[string]string{}, map[string]string{}, c.opaque
		patterns = slices.Concat(patterns, fixed)
		for _, id := range ids {
			named := slices.Contains(texts, id)
			old, next := profile(c.roles[0][id], patterns, named), profile(c.roles[1][id], patterns, named)
			same = same && old == next
			text := old + " / " + next
			if !c.opaque {
				text = id
			}
			if first[text] == "" {
				first[text] = id
				all[id] = true
			}
			out[id] = first[text]
		}
		return out, same
	}
	size := t.sizes()[t.lookupPart()]
	t.roleOf, t.sameRoles = make([]map[string]string, size), make([]bool, size)
	for i := range t.roleOf {
		t.roleOf[i], t.sameRoles[i] = represent(t.patternsOf(i))
	}
	return slices.Sorted(maps.Keys(all))
}

// lookupPart returns the part whose permissions rules look up.
func (t *table) lookupPart() part {
	if t.entry == engine.EntryGrantable {
		return grantPart
	}
	return requestPart
}

// patternsOf returns the patterns that rules look up for a value of lookupPart.
func (t *table) patternsOf(i int) []string {
	if t.entry == engine.EntryGrantable {
		return generalisations(t.grants[i].permissions)
	}
	a := &t.requests[i]
	return generalisations([]string{a.action[0].ID, a.action[1].ID})
}

// lookups returns the patterns that rules look up at a point, and the representative of each system role there.
func (t *table) lookups(pt *point) ([]string, map[string]string) {
	i := pt[t.lookupPart()]
	return t.patternsOf(i), t.roleOf[i]
}

// fits says whether the gateway asks the engine this question, and whether a caller can cause it.
func (t *table) fits(pt *point) (asked, reachable bool) {
	a, w, p := &t.requests[pt[0]], &t.persons[pt[personPart]], &t.targets[pt[targetPart]]
	reachable = !w.impossible && !t.grants[pt[grantPart]].impossible
	switch t.entry {
	case engine.EntryGrantable:
		return true, reachable
	case engine.EntryDecision:
		return true, reachable && p.target.UserID == ""
	}
	route := cmp.Or(a.routes[0], a.routes[1])
	if a.publicIn() < 0 && isPublic(route) != (w.caller == "anybody") || w.account == "" && p.target.AccountID != "" {
		return false, false
	}
	return p.fits(route, cmp.Or(a.action[0], a.action[1])), reachable && p.target.AccountID != OtherAccount
}

package compare

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Answer is the answer of an entry point.
type Answer struct {
	Allow  bool   `json:"allow"`
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason"`
}

// Row is a difference: a set of questions that the two trees answer differently.
type Row struct {
	Entry      string `json:"entry"`
	Route      string `json:"route,omitempty"`
	Action     string `json:"action,omitempty"`
	Caller     string `json:"caller"`
	Credential string `json:"credential"`
	// States are the values of each condition, over all questions of the row.
	States map[string][]string `json:"states"`
	// Role and Place name what the user holds. They are empty if a user without assignments shows the difference, or if
	// only the reason differs.
	Role  string `json:"role,omitempty"`
	Place string `json:"place,omitempty"`
	Old   Answer `json:"old"`
	New   Answer `json:"new"`
	// Asked is the content of the questions.
	Asked Asked `json:"-"`
}

// Difference is everything that two trees answer differently.
type Difference struct {
	// Rows are differences that a caller can cause. Unreachable ones arise only from questions that no caller can
	// cause.
	Rows, Unreachable []Row
	Gaps              []Gap
	// Unasked says that the comparison skipped an entry point. Gaps say why.
	Unasked bool
	// Questions is the number of compared questions, Evaluations the number of evaluations by OPA.
	Questions, Evaluations int
}

// Compare asks both trees all questions, with at most atOnce roots at the same time. It returns an error if a document
// cannot be read or the context ends.
func Compare(ctx context.Context, old, next *engine.Set, atOnce int) (*Difference, error) {
	c, err := newComparison(ctx, old, next)
	if err != nil {
		return nil, err
	}
	defer c.close(ctx)
	var wait sync.WaitGroup
	free := make(chan struct{}, atOnce)
	parts, errs := make([]Difference, len(roots())), make([]error, len(roots()))
	for i, r := range roots() {
		if c.sameAnswers(r) {
			continue
		}
		free <- struct{}{}
		wait.Go(func() {
			parts[i], errs[i] = c.compare(ctx, r)
			<-free
		})
	}
	wait.Wait()
	all := &Difference{}
	for _, r := range parts {
		all.Rows = append(all.Rows, r.Rows...)
		all.Unreachable = append(all.Unreachable, r.Unreachable...)
		all.Gaps = append(all.Gaps, r.Gaps...)
		all.Unasked = all.Unasked || r.Unasked
		all.Questions += r.Questions
		all.Evaluations += r.Evaluations
	}
	gaps, err := gapsBesideTables(ctx, old, next)
	if err != nil {
		return nil, err
	}
	all.Gaps = append(all.Gaps, gaps...)
	for i := range all.Gaps {
		all.Gaps[i].Rule = cmp.Or(ruleAt(next, all.Gaps[i].At), ruleAt(old, all.Gaps[i].At))
	}
	slices.SortFunc(all.Gaps, func(a, b Gap) int { return strings.Compare(a.At+a.Reads+a.LeftOut, b.At+b.Reads+b.LeftOut) })
	all.Gaps = slices.Compact(all.Gaps)
	return all, errors.Join(errors.Join(errs...), ctx.Err()) // a cancelled comparison has no findings
}

// ruleAt returns the name of the rule at file:line, "" if the tree has none.
func ruleAt(set *engine.Set, place string) (name string) {
	best := 0
	for _, module := range set.Compiled().Compiler.Modules {
		for _, rule := range module.Rules {
			end := strings.LastIndexByte(place, ':') // the name of a file in a base has a colon
			file, row := place[:end], place[end+1:]
			if line, err := strconv.Atoi(row); err == nil && rule.Location.File == file && rule.Location.Row <= line && rule.Location.Row > best {
				best, name = rule.Location.Row, rule.Head.Ref().GroundPrefix().String()
			}
		}
	}
	return name
}

// root is a rule to compare, with the entry point whose questions it gets.
type root struct{ entry, rule string }

// roots returns the entry points, and the parts of an explanation.
func roots() (out []root) {
	for _, entry := range engine.EntryPoints() {
		out = append(out, root{entry, entry})
	}
	return append(out, root{engine.EntryDecision, "data.authz.conditions"}, root{engine.EntryDecision, "data.authz.told"})
}

// comparison is the state shared by all roots of two trees. forRoot adds the state of one root.
type comparison struct {
	sets   [2]*engine.Set
	rules  [2]*rules
	roles  [2]map[string]*resources.Role
	scopes map[string]string // of the system roles of either tree
	// granting holds, per tree and permission, the numbers of the system roles that have it.
	granting [2]map[string]string
	// consts are the constants that the rules of the root compare the input with.
	consts constants
	// gaps are those known before the first question.
	gaps []Gap
	// opaque says that rules read only two things of a system role: its scope, and whether it has a looked-up
	// permission. combined says that rules can depend on two assignments at once.
	opaque, combined bool
}

// newComparison reads both trees. The caller must close the result.
func newComparison(ctx context.Context, old, next *engine.Set) (*comparison, error) {
	c := &comparison{sets: [2]*engine.Set{old, next}, scopes: map[string]string{}}
	for i, set := range c.sets {
		r, err := newRules(ctx, set)
		if err != nil {
			if i > 0 {
				c.rules[0].close(ctx)
			}
			return nil, err
		}
		c.rules[i] = r
		c.roles[i] = map[string]*resources.Role{}
		roles := set.Roles()
		c.granting[i] = map[string]string{}
		for n := range roles {
			c.roles[i][roles[n].ID] = &roles[n]
			c.scopes[roles[n].ID] = roles[n].Scope
			for _, permission := range roles[n].Permissions {
				c.granting[i][permission] += strconv.Itoa(n) + ","
			}
		}
	}
	return c, nil
}

// close ends the reading of both trees.
func (c *comparison) close(ctx context.Context) {
	for _, r := range c.rules {
		r.close(ctx)
	}
}

// forRoot returns the comparison of one root, with the constants and gaps of its rules in both trees.
func (c comparison) forRoot(ctx context.Context, root root) (*comparison, error) {
	c.consts, c.opaque = constants{}, true
	gaps, both := map[Gap]bool{}, [2]*analyzer{}
	var n [2]needs
	for i, r := range c.rules {
		a := &analyzer{
			ctx: ctx, rules: r, compared: c.consts, gaps: gaps, results: map[string]*result{}, opaque: true,
		}
		if n[i] = a.follow(root.rule); a.err != nil {
			return nil, a.err
		}
		both[i] = a
		c.opaque = c.opaque && a.opaque
	}
	for _, set := range c.sets {
		for _, route := range set.Routes() {
			for _, word := range route.Access {
				if scope, isScope := strings.CutPrefix(word, "service:"); isScope {
					c.consts.add("principal.scopes", words([]string{scope}).consts)
				}
			}
		}
	}
	if c.combined = root.rule == root.entry && n[0].held.beside(n[1].held) > 1; c.combined {
		for _, a := range both {
			for _, location := range a.holdingLoops {
				gaps[gap(location, "subject.here", "three assignments and more, and most that do not count beside others")] = true
			}
		}
	}
	for _, a := range both {
		if root.entry == engine.EntryGrantable && (len(a.searches) > 1 || n[0].granted.beside(n[1].granted) > 1) {
			for _, location := range a.searches {
				gaps[gap(location, "grant.permissions", "sets of several permissions that are not a system role's")] = true
			}
		}
	}
	if root.entry == engine.EntryGrantable && len(c.consts["now"])+len(c.consts["grant.until"]) > 0 {
		for _, r := range c.rules {
			gaps[gap(r.groups[root.rule].location, "grant.until", "ends of assignments beside the times that rules name")] = true
		}
	}
	c.gaps = slices.Collect(maps.Keys(gaps))
	return &c, nil
}

// sameAnswers says whether a root provably gives the same answers in both trees, by its fingerprint and inputs.
func (c *comparison) sameAnswers(r root) bool {
	old, next := c.sets[0], c.sets[1]
	switch {
	case c.rules[0].groups[r.rule].print != c.rules[1].groups[r.rule].print:
		return false
	case r.entry == engine.EntryAccess:
		return slices.EqualFunc(old.Routes(), next.Routes(), func(a, b resources.Route) bool {
			return routeKey(&a) == routeKey(&b) && sameRow(&a, &b)
		})
	case r.entry == engine.EntryDecision:
		listed := func(a, b resources.ListedAction) bool { return a.ID == b.ID }
		return sameRow(decisionRoute(old), decisionRoute(next)) && old.Strict() == next.Strict() &&
			(!old.Strict() || slices.EqualFunc(old.Actions(), next.Actions(), listed))
	}
	return true
}

// sameRow says whether two routes have everything in common that rules read, and the action.
func sameRow(a, b *resources.Route) bool {
	return a.Name == b.Name && a.Action == b.Action && a.Effect == b.Effect && slices.Equal(a.Access, b.Access)
}

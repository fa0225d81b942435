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
	// Asked is what the questions ask.
	Asked Asked `json:"-"`
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
		if c.sameAnswers(r.rule) {
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
	gaps, err := appAndLogGaps(ctx, old, next)
	if err != nil {
		return nil, err
	}
	all.Gaps = append(all.Gaps, gaps...)
	for i := range all.Gaps {
		all.Gaps[i].Rule = cmp.Or(ruleAt(next, all.Gaps[i].At), ruleAt(old, all.Gaps[i].At))
	}
	slices.SortFunc(all.Gaps, func(a, b Gap) int { return strings.Compare(a.At+a.Reads+a.LeftOut, b.At+b.Reads+b.LeftOut) })
	all.Gaps = slices.Compact(all.Gaps)
	return all, errors.Join(errors.Join(errs...), ctx.Err()) // what was given up found nothing
}

// ruleAt returns the name of the rule at a place, file:line; "" where the tree has none.
func ruleAt(set *engine.Set, place string) (name string) {
	best := 0
	for _, module := range set.Compiled().Compiler.Modules {
		for _, rule := range module.Rules {
			end := strings.LastIndexByte(place, ':') // a file of a base has one in its name
			file, row := place[:end], place[end+1:]
			if line, err := strconv.Atoi(row); err == nil && rule.Location.File == file && rule.Location.Row <= line && rule.Location.Row > best {
				best, name = rule.Location.Row, rule.Head.Ref().GroundPrefix().String()
			}
		}
	}
	return name
}

// ask is what is compared: a rule, by the questions that an entry point gets.
type root struct{ entry, rule string }

// asks returns the entry points, and what an explanation tells beside the decision.
func roots() (out []root) {
	for _, entry := range engine.EntryPoints() {
		out = append(out, root{entry, entry})
	}
	return append(out, root{engine.EntryDecision, "data.authz.conditions"}, root{engine.EntryDecision, "data.authz.told"})
}

// comparison is of two trees.
type comparison struct {
	sets   [2]*engine.Set
	rules  [2]*rules
	roles  [2]map[string]*resources.Role
	scopes map[string]string // of the system roles of both
	// consts are those with which the rules that are compared compare the input.
	consts constants
	gaps   []Gap
	// opaque says that they read nothing of a system role but whether it has a scope or a permission that is looked up, beside
	// that they can tell apart what is held beside each other.
	opaque, combined bool
}

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
		for n := range roles {
			c.roles[i][roles[n].ID] = &roles[n]
			c.scopes[roles[n].ID] = roles[n].Scope
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

// of returns the comparison by one rule, with what both trees do with the input there.
func (c comparison) forRoot(ctx context.Context, root root) (*comparison, error) {
	c.consts, c.opaque = constants{}, true
	gaps, both := map[Gap]bool{}, [2]*flows{}
	var n [2]needs
	for i, r := range c.rules {
		f := newFlows(r, func(ref ast.Ref) (ast.Value, error) { return r.documentValue(ctx, ref) })
		if n[i] = f.follow(root.rule); f.err != nil {
			return nil, f.err
		}
		both[i] = f
		c.consts.add(f.compared)
		c.opaque = c.opaque && f.opaque
		maps.Copy(gaps, f.gaps)
	}
	for _, set := range c.sets {
		for _, row := range set.Routes() {
			for _, word := range row.Access {
				if scope, isScope := strings.CutPrefix(word, "service:"); isScope {
					c.consts.add(map[string]map[string]ast.Value{"principal.scopes": words([]string{scope}).consts})
				}
			}
		}
	}
	if c.combined = root.rule == root.entry && max(n[0].yes+n[1].no, n[1].yes+n[0].no) > 1; c.combined {
		for _, f := range both {
			for _, location := range f.holdingLoops {
				gaps[gap(location, "subject.here", "three assignments and more, and most that do not count beside others")] = true
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

// equal says that no question can have two answers by the rule of that name.
func (c *comparison) sameAnswers(entry string) bool {
	old, next := c.rules[0].groups[entry], c.rules[1].groups[entry]
	if !slices.Contains(engine.EntryPoints(), entry) {
		return old.print == next.print
	}
	if old.print != next.print || c.sets[0].Strict() != c.sets[1].Strict() || c.sets[0].Strict() && !sameActions(c.sets) {
		return false
	}
	return entry != engine.EntryAccess || slices.EqualFunc(c.sets[0].Routes(), c.sets[1].Routes(), func(a, b resources.Route) bool {
		return routeKey(&a) == routeKey(&b) && a.Action == b.Action && a.Effect == b.Effect && slices.Equal(a.Access, b.Access)
	})
}

// sameActions says whether both trees list the same actions.
func sameActions(sets [2]*engine.Set) bool {
	return slices.EqualFunc(sets[0].Actions(), sets[1].Actions(), func(a, b resources.ListedAction) bool { return a.ID == b.ID })
}

package people

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// evaluationTime bounds one evaluation. It is long, since a report does not measure a busy machine.
const evaluationTime = 10 * time.Second

// Options are those of a report.
type Options struct {
	// Names bounds the users whom each change names.
	Names int
	// AtOnce is how many stands are judged at once.
	AtOnce int
	Now    resources.Time
}

// Source adds people, each once, and returns the revision of their facts and what it could not read.
type Source func(ctx context.Context, add func(Person) error) (Facts, []Omission, error)

// Compare says whom the change from one tree to the other concerns. The rows and gaps are those of a comparison of the
// trees: the rows in which access changes.
func Compare(ctx context.Context, sets [2]*engine.Set, rows []compare.Row, gaps []compare.Gap, source Source, o Options) (*Report, error) {
	n, err := newNames(ctx, sets, gaps)
	if err != nil {
		return nil, err
	}
	c := newCensus(n, o.Names, o.Now)
	facts, omitted, err := source(ctx, c.add)
	if err != nil {
		return nil, err
	}
	asks := newAsks(sets, rows, gaps)
	j := &judge{sets: sets, asks: asks.sorted(), changes: map[string]*change{}}
	changes, err := j.all(ctx, c.stands, max(o.AtOnce, 1))
	if err != nil {
		return nil, err
	}
	for _, set := range c.sets {
		set.count(changes, o.Names)
	}
	if c.omitted > 0 {
		omitted = append(omitted, Omission{"users with further sets of facts: only so many are kept", c.omitted})
	}
	for _, gap := range slices.Sorted(maps.Keys(asks.omitted)) {
		omitted = append(omitted, Omission{What: gap})
	}
	r := &Report{
		Users: c.users, Accounts: len(c.accounts), FactSets: len(c.sets), Questions: int(j.questions.Load()),
		Facts: facts, Gain: []Change{}, Lose: []Change{}, NotLookedAt: append([]Omission{}, omitted...),
	}
	r.add(j.changes)
	return r, nil
}

// judge judges stands by both trees.
type judge struct {
	sets      [2]*engine.Set
	asks      []*ask
	questions atomic.Int64

	mutex   sync.Mutex
	changes map[string]*change // of all stands, by their keys
}

// all returns the changes at each stand.
func (j *judge) all(ctx context.Context, stands []*stand, atOnce int) ([][]*change, error) {
	out := make([][]*change, len(stands))
	var wait sync.WaitGroup
	var next atomic.Int64
	for range atOnce {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(stands)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				changes := j.stand(ctx, stands[i])
				j.mutex.Lock()
				for _, c := range changes {
					slices.Sort(c.By)
					key := c.key()
					if j.changes[key] == nil {
						c.Named, j.changes[key] = []Named{}, c
					}
					out[i] = append(out[i], j.changes[key])
				}
				j.mutex.Unlock()
			}
		})
	}
	wait.Wait()
	return out, ctx.Err()
}

// caller is by what a user is asked about.
type caller struct {
	name      string
	principal resources.Principal
}

// callers returns with which credentials a stand is asked about.
func (a *ask) callers(s *stand) (out []caller) {
	user := s.base.Principal
	if a.token {
		out = append(out, caller{"token", user})
	}
	if a.key {
		for _, scopes := range s.keys {
			user.Credential, user.KeyScopes = resources.CredentialKey, strings.Split(scopes, "+")
			out = append(out, caller{"key " + scopes, user})
		}
	}
	if a.service {
		out = append(out, caller{"service", resources.Principal{
			Kind: resources.PrincipalService, ID: resources.ServicePrefix + "any", Credential: resources.CredentialToken,
			Scopes: []string{resources.ServiceScopeCheck},
		}})
	}
	return out
}

// stand asks both trees everything about a stand, and returns the answers that differ, by their keys.
func (j *judge) stand(ctx context.Context, s *stand) map[string]*change {
	changes := map[string]*change{}
	for _, a := range j.asks {
		targets := a.ordered()
		for _, caller := range a.callers(s) {
			above := map[string]bool{} // the keys of what differs at the place itself, and so for every path below it
			for _, row := range targets {
				target, fits := s.target(row)
				if !fits {
					continue
				}
				q := s.base
				q.Principal, q.Target = caller.principal, target
				c := &change{Change: a.Change, kind: j.ask(ctx, a, q)}
				if c.kind == same {
					continue
				}
				c.Place, c.About = s.kind, userOf(&row)
				key := c.key()
				if c.Path = s.path(&row); c.Path != "" && above[key] {
					continue
				}
				above[key] = above[key] || c.Path == ""
				if key = c.key(); changes[key] == nil {
					changes[key] = c
				}
				if c = changes[key]; !slices.Contains(c.By, caller.name) {
					c.By = append(c.By, caller.name)
				}
			}
		}
	}
	return changes
}

// ask has both trees judge one question, and says how their answers differ, or why there is none.
func (j *judge) ask(ctx context.Context, a *ask, q resources.Question) string {
	j.questions.Add(1)
	var allowed [2]bool
	for side, set := range j.sets {
		entry := engine.EntryDecision
		q.Action, q.Route = a.actions[side], a.routes[side]
		switch _, unlisted := set.Unlisted(q.Action); {
		case a.Entry == "grantable":
			entry, q.Target = engine.EntryGrantable, resources.TargetAt(q.Target.ProjectID, q.Target.Resource)
			q.Grant = &resources.Grant{Permissions: a.Grants}
			if a.soon {
				q.Grant.Until = q.Now + 1
			}
		case a.Entry == "access":
			if entry = engine.EntryAccess; q.Route == nil {
				continue // a tree without the route lets nobody in
			}
		case unlisted:
			continue
		}
		d, err := set.Judge(ctx, entry, q, evaluationTime)
		if err != nil {
			return [...]string{"the old tree", "the new tree"}[side] + " gives no decision: " + err.Error()
		}
		allowed[side] = d.Allowed
	}
	switch {
	case allowed[1] && !allowed[0]:
		return gain
	case allowed[0] && !allowed[1]:
		return lose
	}
	return same
}

// path says what the target of a row names below the place.
func (s *stand) path(row *resources.Target) string {
	if name := compare.NameOfPath(*row); name != "none" && (name != "a resource" || s.base.Target.Resource == "") {
		return name
	}
	return ""
}

// userOf says which user the target of a row names.
func userOf(row *resources.Target) string {
	if row.UserID == "" {
		return ""
	}
	return strings.TrimSuffix(compare.NameOfUser(row.UserID), "'s UUID")
}

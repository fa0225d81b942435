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

// within bounds one evaluation: a report is no measurement of a busy machine.
const within = 10 * time.Second

// Options are what a report is made with.
type Options struct {
	// Names bounds the users whom each change names.
	Names int
	// AtOnce is how many sets are judged at once.
	AtOnce int
	Now    resources.Time
}

// Each hands people over, each once, and returns the revision of their facts and what it could not tell of.
type Each func(ctx context.Context, add func(Person) error) (Facts, []Left, error)

// Between says whom the change from one tree to the other concerns. The rows and gaps are what a comparison of the
// trees has found: the rows in which access turns.
func Between(ctx context.Context, sets [2]*engine.Set, rows []compare.Row, gaps []compare.Gap, each Each, o Options) (*Report, error) {
	n, err := newNames(ctx, sets, gaps)
	if err != nil {
		return nil, err
	}
	c := newCensus(forms{n, o.Now}, o.Names)
	facts, left, err := each(ctx, c.add)
	if err != nil {
		return nil, err
	}
	asked := newAskings(sets, rows, gaps)
	j := &judging{
		sets: sets, asked: asked.sorted(), census: c, now: o.Now,
		gain: changes{map[string]*Change{}, o.Names}, lose: changes{map[string]*Change{}, o.Names}, failed: map[string]int{},
	}
	if err := j.all(ctx, max(o.AtOnce, 1)); err != nil {
		return nil, err
	}
	r := &Report{
		Users: c.users, Accounts: len(c.accounts), FactSets: len(c.sets), Questions: j.questions,
		Facts: facts, Gain: j.gain.sorted(), Lose: j.lose.sorted(), NotLookedAt: append([]Left{}, left...),
	}
	if c.left > 0 {
		r.NotLookedAt = append(r.NotLookedAt, Left{"users with further sets of facts: only so many are kept", c.left})
	}
	for _, what := range slices.Sorted(maps.Keys(asked.left)) {
		r.NotLookedAt = append(r.NotLookedAt, Left{What: what})
	}
	for _, why := range slices.Sorted(maps.Keys(j.failed)) {
		r.NotLookedAt = append(r.NotLookedAt, Left{why, j.failed[why]})
	}
	return r, nil
}

// judging is the judgement of all sets.
type judging struct {
	sets   [2]*engine.Set
	asked  []*asking
	census *census
	now    resources.Time

	gain, lose changes
	failed     map[string]int // users by why there is no decision
	questions  int
}

// all judges every set. It takes the findings in the order of the sets, so that a report is always the same.
func (j *judging) all(ctx context.Context, atOnce int) error {
	type result struct {
		gain, lose turned
		failed     map[string]bool
		questions  int
	}
	const block = 256
	for from := 0; from < len(j.census.sets); from += block {
		sets := j.census.sets[from:min(from+block, len(j.census.sets))]
		found := make([]result, len(sets))
		var wait sync.WaitGroup
		var next atomic.Int64
		for range atOnce {
			wait.Go(func() {
				w := newWorker(j)
				for i := next.Add(1) - 1; i < int64(len(sets)) && ctx.Err() == nil; i = next.Add(1) - 1 {
					w.begin(sets[i])
					w.judge(ctx)
					found[i] = result{w.gain, w.lose, w.failed, w.questions}
				}
			})
		}
		wait.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, of := range found {
			j.gain.take(sets[i], of.gain)
			j.lose.take(sets[i], of.lose)
			j.questions += of.questions
			for why := range of.failed {
				j.failed[why] += sets[i].users
			}
		}
	}
	return nil
}

// worker judges one set after the other.
type worker struct {
	*judging
	judges [2]*engine.Rejudge
	of     *factSet
	// subject is the user in the account of which they are a member, stranger the user in another one.
	subject, stranger *resources.Subject

	gain, lose turned
	failed     map[string]bool
	questions  int
}

func newWorker(j *judging) *worker {
	return &worker{judging: j, judges: [2]*engine.Rejudge{engine.NewRejudge(j.sets[0], within), engine.NewRejudge(j.sets[1], within)}}
}

func (w *worker) begin(of *factSet) {
	w.of, w.gain, w.lose, w.failed, w.questions = of, turned{}, turned{}, map[string]bool{}, 0
	w.subject = of.subject()
	w.stranger = &resources.Subject{
		AccountID: otherAccount, AccountExists: true, AccountStatus: resources.StatusActive,
		UserID: of.User, UserUUID: anyUUID, UserExists: true, UserStatus: of.Status,
	}
}

// caller is by what a user is asked about.
type caller struct {
	by        string
	principal resources.Principal
}

// callers returns with which credentials a question is asked about a user.
func (w *worker) callers(a *asking) (out []caller) {
	user := resources.Principal{
		Kind: resources.PrincipalUser, ID: w.of.User, UUID: anyUUID, AccountID: w.of.Account, Credential: resources.CredentialToken,
	}
	if a.token {
		out = append(out, caller{"token", user})
	}
	if a.key {
		for _, scopes := range w.of.Keys {
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

// aboveIt is a place without the path below it, and whether it is allowed now.
type aboveIt struct {
	kind, about string
	at          int
	allowed     bool
}

// judge asks both trees each question about the set, and adds to gain and lose where their answers differ.
func (w *worker) judge(ctx context.Context) {
	for _, a := range w.asked {
		for _, by := range w.callers(a) {
			above := map[aboveIt]bool{} // where the answer turns, whatever the path below it
			for _, in := range w.places(a) {
				turns, allowed := w.ask(ctx, a, by, &in)
				if !turns {
					continue
				}
				at := aboveIt{in.kind, in.about, in.at, allowed}
				if in.path != "" && above[at] {
					continue
				}
				above[at] = above[at] || in.path == ""
				to := w.lose
				if allowed {
					to = w.gain
				}
				to.add(Change{
					Entry: a.entry, Route: a.route, Action: a.action, Grants: a.grants, Place: in.kind, Path: in.path, About: in.about,
				}, by.by, in.at)
			}
		}
	}
}

// ask has both trees judge one question, and says whether the answer turns, and to what.
func (w *worker) ask(ctx context.Context, a *asking, by caller, in *place) (turns, fresh bool) {
	w.questions++
	var allowed [2]bool
	for side, judge := range w.judges {
		j := w.judgement(a, side, by, in)
		if j == nil {
			continue // the tree has no such route, and lets nobody in
		}
		d, err := decide(ctx, judge, j)
		if err != nil {
			w.failed[[...]string{"the old tree", "the new tree"}[side]+" gives no decision: "+err.Error()] = true
			return false, false
		}
		allowed[side] = d.Allowed
	}
	return allowed[0] != allowed[1], allowed[1]
}

func decide(ctx context.Context, judge *engine.Rejudge, j *resources.Judgement) (resources.AppDecision, error) {
	q, err := judge.Whole(j)
	if err != nil {
		return resources.AppDecision{}, err
	}
	return judge.Judge(ctx, q)
}

// judgement returns the question for a tree; nil where the tree has no such route.
func (w *worker) judgement(a *asking, side int, by caller, in *place) *resources.Judgement {
	facts := resources.Facts{Subject: w.subject, ProjectState: in.state}
	if in.stranger {
		facts.Subject = w.stranger
	}
	q := resources.Question{
		Principal: by.principal, Action: a.actions[side], AccountID: facts.Subject.AccountID, Facts: facts, Target: in.target, Now: w.now,
	}
	switch {
	case a.entry == "decision":
		return &resources.Judgement{Path: resources.PathDecision, Question: q}
	case a.entry == "access" && a.rows[side] == nil:
		return nil
	case a.entry == "access":
		q.Route = a.rows[side]
		return &resources.Judgement{Path: resources.PathAccess, Question: q}
	}
	q.Target, q.Grant = resources.TargetAt(in.target.ProjectID, in.target.Resource), &resources.Grant{Permissions: a.grants, Until: in.until}
	return &resources.Judgement{Path: resources.PathGrantable, Question: q}
}

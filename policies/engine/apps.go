package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// entryApp is how the decisions of apps are counted.
const entryApp = "app"

// CountedEntries returns the names of evaluations in an Observer.
func CountedEntries() (names []string) {
	for _, entry := range EntryPoints() {
		names = append(names, nameOf(entry))
	}
	return append(names, entryApp, entryArguments)
}

// app is one app of a set.
type app struct {
	resources.App
	query          *query
	plan           *question.AppPlan // nil where no answer may be cached
	allows, denies string            // its reasons
	constant       map[string]bool
}

// apps are the apps of a set.
type apps struct {
	all     []*app
	byType  map[string]*app
	answers *cache[resources.AppDecision]
}

// newApps plans the apps of a tree whose rules still call built-ins by OPA's own names.
func (s *Set) newApps() *apps {
	out := &apps{byType: map[string]*app{}}
	for i, name := range s.tree.Apps {
		rules := AppRules(name)
		decision := rules + ".decision"
		a := &app{
			App: resources.App{Name: name}, query: newQuery(decision), constant: map[string]bool{},
			plan:   question.NewAppPlan(s.tree.Compiler, decision, i),
			allows: "app " + name + " allows", denies: "app " + name + " denies",
		}
		a.query.reads = question.ReadBy(s.tree.Compiler, decision)
		for _, set := range appSets() {
			a.constant[set] = question.Constant(s.tree.Compiler, rules+"."+set)
		}
		out.all = append(out.all, a)
	}
	return out
}

// AppRules returns the package of an app.
func AppRules(name string) string {
	return ast.Ref{ast.DefaultRootDocument, ast.StringTerm("apps"), ast.StringTerm(name)}.String()
}

// App returns the app for resources of the type, false for none. Callers must not change it.
func (s *Set) App(resourceType string) (resources.App, bool) {
	if a := s.apps.byType[resourceType]; a != nil {
		return a.App, true
	}
	return resources.App{}, false
}

// Apps returns the apps by name. They are not to be changed.
func (s *Set) Apps() []resources.App {
	out := make([]resources.App, len(s.apps.all))
	for i, a := range s.apps.all {
		out[i] = a.App
	}
	return out
}

// decideApp is DecideApp by that tree, with what was parsed of the same bytes before.
func (e *Engine) decideApp(ctx context.Context, set *Set, q resources.Question, parsed sentTerms) (d resources.AppDecision, err error) {
	start, hit, rejected := time.Time{}, false, false
	var kind string
	if q.App != nil {
		kind = q.App.ResourceType
	}
	defer func() {
		if r := recover(); r != nil { // while the key or the input was made
			err = panicked("app of "+kind, r)
		}
		if !rejected && (err != nil || !hit) {
			_, err = e.finish(entryApp, start, resources.Decision{}, err)
		}
		if err != nil {
			d = resources.AppDecision{}
		}
	}()
	a := set.apps.byType[kind]
	if a == nil {
		return d, &failed{FailureFacts, fmt.Errorf("no app decides about resources of type %q", kind)}
	}
	input, err := newAppInput(&q, parsed)
	if err != nil {
		rejected = resources.AsError(err).Kind == resources.KindBadRequest // a fault of the client, not of the policy
		return d, err
	}
	if sent := input.resourceType(); sent != kind {
		return d, &failed{FailureFacts, fmt.Errorf("the resource is of type %q, not of %q", sent, kind)}
	}
	var room [keyRoom]byte
	key := set.appKey(room[:0], a, input)
	if d, hit = set.apps.answers.get(ctx, key); hit {
		e.opts.Observer.Cached(entryApp)
		return d, nil
	}
	if err = e.opts.Gate.Enter(ctx, q.AccountID); err != nil { // a full gate is not a failure of the policy
		rejected = true
		return d, err
	}
	defer e.opts.Gate.Leave()
	start = time.Now()
	if d, err = set.judgeApp(ctx, a, input, e.opts.Deadline); err == nil {
		set.apps.answers.put(key, d, sizeOf(d))
	}
	return d, err
}

// JudgeApp has an app decide about a resource of any type, without a cache. The error says why it has not decided.
func (s *Set) JudgeApp(ctx context.Context, name string, q resources.Question, limit time.Duration) (resources.AppDecision, error) {
	input, err := newAppInput(&q, nil)
	if err != nil {
		return resources.AppDecision{}, err
	}
	if a := s.apps.named(name); a != nil {
		return s.judgeApp(ctx, a, input, limit)
	}
	return resources.AppDecision{}, errors.New("there is no such app")
}

// judgeApp evaluates the app's decision. An undefined one denies, as a rule without a default is false where it does
// not hold; anything else but an answer in its form is an error with the zero decision.
func (s *Set) judgeApp(ctx context.Context, a *app, input *appInput, limit time.Duration) (d resources.AppDecision, err error) {
	answer, err := s.answer(ctx, a.query, input.whole(), input.question.Now, limit)
	if err != nil {
		return d, err
	}
	var value ast.Value
	if answer != nil {
		value = answer.Value
	}
	return s.readApp(a, value)
}

// readApp reads what an app answers; nil is undefined.
func (s *Set) readApp(a *app, answer ast.Value) (d resources.AppDecision, err error) {
	d.PolicyRevision, d.Reason = s.tree.Revision, a.denies
	if answer != nil {
		if d.Allowed, d.Context, err = readApp(answer); err != nil {
			return resources.AppDecision{}, &failed{FailureIllTyped, fmt.Errorf("%s %w", a.query.name, err)}
		}
	}
	if d.Allowed {
		d.Reason = a.allows
	}
	return d, nil
}

// named returns the app of that name, nil for none.
func (all *apps) named(name string) *app {
	for _, a := range all.all {
		if a.Name == name {
			return a
		}
	}
	return nil
}

func (s *Set) appKey(b []byte, a *app, input *appInput) []byte {
	if s.apps.answers == nil || a.plan == nil {
		return nil
	}
	// The key has the subject's assignments and roles by their digest.
	return a.plan.Key(b, input.document(), &input.question, maxVerdict)
}

// sizeOf returns about how many bytes an answer takes.
func sizeOf(d resources.AppDecision) int {
	size := len(d.Reason)
	for _, m := range d.Context {
		size += len(m.Name) + len(m.Value)
	}
	return size
}

// App returns the app for resources of the type, false for none.
func (p *Pinned) App(resourceType string) (resources.App, bool) { return p.set.App(resourceType) }

// DecideApp has the app decide that claims the question's type. Errors are as for Decide, and a *resources.Error of
// KindBadRequest for a question that policy is not given; each comes with the zero decision. It parses once what
// questions have in common; their bytes must not change.
func (p *Pinned) DecideApp(ctx context.Context, q resources.Question) (resources.AppDecision, error) {
	p.judged++
	if p.sent == nil {
		p.sent = sentTerms{}
	}
	return p.engine.decideApp(ctx, p.set, q, p.sent)
}

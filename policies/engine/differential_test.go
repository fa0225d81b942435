//go:build !race

package engine_test

// One goroutine asks: the race detector would only make it slow (verdicts_test.go has many).

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// tells reads the input part by part and returns all of it: the reason shows each part, so a part missing in the key
// shows up.
const tells = `told(entry) := json.marshal([
	entry, input.action, input.principal, input.route, input.account, input.subject, input.target, input.grant, running,
])

running := {[p, r, i] | some p, r, i; input.subject.assignments[p][r][i].running}

decision := {"allow": count(running) > 0, "reason": told("decision")}`

const tellsAccess = `access := {"allow": count(running) > 1, "reason": told("access")}

grantable := {"allow": count(running) > 2, "reason": told("grantable")}`

// tellingTree gives back all that each entry point reads.
func tellingTree(tb testing.TB) policytest.Tree {
	tb.Helper()
	t := policytest.Decision(tb, tells)
	head, _, _ := strings.Cut(string(t["authz/authz.rego"].Data), "default access")
	return t.With("authz/authz.rego", head+tellsAccess+"\n")
}

// worlds are the sets that the differential test goes between, compiled once.
func worlds(tb testing.TB) (sets []*engine.Set) {
	tb.Helper()
	telling, inputs := tellingTree(tb), policytest.NewInputs(tb, policies.Tree())
	again := telling.With("authz/authz.rego", strings.Replace(string(telling["authz/authz.rego"].Data), "entry, input.action", "entry, 2, input.action", 1))
	for _, tree := range []policytest.Tree{telling, again, policytest.Copy(tb, policies.Tree())} {
		set := must.Get(compiled(tb, tree))(tb)
		sets = append(sets, set)
	}
	for stream := uint64(0); len(sets) < 16; stream++ {
		if set, err := compiled(tb, inputs.Program(tb, policytest.NewRandom(1, stream), policies.Tree())); err == nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// differing asks two engines the same questions, one with a cache and one without.
type differing struct {
	policytest.Random
	sets   []*engine.Set
	caches *engine.Engine
	judges *engine.Engine
	asked  []policytest.Ask
	// bring puts a set into force in the engine with the cache.
	bring           func(*engine.Engine, *engine.Set)
	questions, hits int
}

func newDiffering(tb testing.TB, sets []*engine.Set, bring func(*engine.Engine, *engine.Set)) *differing {
	tb.Helper()
	d := &differing{sets: sets, bring: bring}
	seen := engine.Observer{Cached: func(string) { d.hits++ }}
	d.caches = newEngine(tb, policytest.Small(tb), engine.Options{Verdicts: 4096, Observer: seen})
	d.judges = newEngine(tb, policytest.Small(tb), engine.Options{Verdicts: -1})
	return d
}

// run asks so many questions and gives the first difference, "" for none.
func (d *differing) run(seed uint64, questions int) string {
	d.Random = policytest.NewRandom(seed, 1)
	d.asked = d.asked[:0]
	d.reload(0)
	for range questions {
		if d.IntN(150) == 0 {
			d.reload(d.IntN(len(d.sets)))
		}
		next := d.next()
		got, gotErr := answer(d.caches, &next)
		want, wantErr := answer(d.judges, &next)
		d.questions++
		if got != want || failure(gotErr) != failure(wantErr) {
			return fmt.Sprintf("seed %d: %s of %+v:\ngot  %+v, %v\nwant %+v, %v", seed, next.Entry, next.Question, got, gotErr, want, wantErr)
		}
	}
	return ""
}

// answer asks an engine as the gateway does.
func answer(e *engine.Engine, a *policytest.Ask) (resources.Decision, error) {
	switch a.Entry {
	case "decision":
		return e.Decide(context.Background(), a.Question)
	case "access":
		return e.Access(context.Background(), a.Question)
	}
	return e.Inside().Grantable(context.Background(), a.Asked())
}

func failure(err error) string {
	if err == nil {
		return ""
	}
	return resources.AsError(err).Cause.Error()
}

// reload goes to another tree, or to the same one anew.
func (d *differing) reload(i int) {
	d.bring(d.caches, d.sets[i].Copy())
	d.judges.Bring(d.sets[i].Copy())
}

// next is something that was asked before, most often with one thing changed.
func (d *differing) next() policytest.Ask {
	if len(d.asked) < 8 || d.IntN(40) == 0 {
		a := d.Ask()
		d.asked = append(d.asked, a)
		return a
	}
	if len(d.asked) > 64 {
		d.asked = slices.Delete(d.asked, 0, 32)
	}
	a := d.asked[d.IntN(len(d.asked))]
	if d.IntN(4) > 0 {
		a = d.Mutate(a)
		d.asked = append(d.asked, a)
	}
	return a
}

// FuzzCachedVerdictIsAFreshOne asks an engine with a cache and one without
// the same questions, through changes of facts, of the time and of the tree: the answers
// are equal, and so are the failures.
func FuzzCachedVerdictIsAFreshOne(f *testing.F) {
	d := newDiffering(f, worlds(f), (*engine.Engine).Bring)
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if difference := d.run(seed, 300); difference != "" {
			t.Fatal(difference)
		}
	})
}

// TestCachedVerdictIsAFreshOne is the same for some seconds, and says how much it
// has seen: a run in which nothing is cached shows nothing.
func TestCachedVerdictIsAFreshOne(t *testing.T) {
	d := newDiffering(t, worlds(t), (*engine.Engine).Bring)
	began := time.Now()
	for seed := range uint64(15) {
		if difference := d.run(seed, 1000); difference != "" {
			t.Fatal(difference)
		}
	}
	t.Logf("%d questions, %d of them hits, %.0f a minute", d.questions, d.hits, float64(d.questions)/time.Since(began).Minutes())
	if d.hits < d.questions/5 {
		t.Errorf("only %d of %d were hits", d.hits, d.questions)
	}
}

// TestVerdictsOfAFormerTreeAreFoundOut guarantees that the test above can fail: it finds a wrong answer if verdicts
// outlive a reload.
func TestVerdictsOfAFormerTreeAreFoundOut(t *testing.T) {
	d := newDiffering(t, worlds(t), (*engine.Engine).BringBeside)
	for seed := range uint64(20) {
		if d.run(seed, 1000) != "" {
			t.Logf("found out after %d questions", d.questions)
			return
		}
	}
	t.Errorf("not found out by %d questions", d.questions)
}

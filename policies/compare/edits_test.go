//go:build !race

package compare_test

// One goroutine asks: the race detector would only make it slow.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// access is a change of access, as a row of a comparison or a question shows it.
type access struct {
	entry, route, action string
	// caller is user, service or none; credential token, key or none.
	caller, credential string
	gained             bool
}

// turning returns the rows with changed access.
func turning(report *diff.Report) (rows []access) {
	callers := map[string]string{"self": "user", "another": "user", "user": "user", "service": "service", "agent": "agent", "nobody": "none", "anybody": "none"}
	for _, row := range report.Turning() {
		action := row.Action[strings.LastIndex(row.Action, " ")+1:] // "old -> new"
		if !row.New.Allow {
			action, _, _ = strings.Cut(row.Action, " ")
		}
		rows = append(rows, access{row.Entry, row.Route, action, callers[first(row.Caller)], first(row.Credential), row.New.Allow})
	}
	return rows
}

// names says whether a gap is in a file with rules of the edit.
func (p *pair) names(gaps []compare.Gap) bool {
	return slices.ContainsFunc(gaps, func(gap compare.Gap) bool {
		file, _, _ := strings.Cut(gap.At, ":")
		return file == "authz/functions.rego" || p.Changes(file)
	})
}

func first(words string) string {
	word, _, _ := strings.Cut(words, " ")
	return word
}

// witness is a question that one tree denies and the other allows.
type witness struct {
	asked *policytest.Asked
	access
}

// pair is an edit, compiled.
type pair struct {
	*policytest.Edit
	sets   [2]*engine.Set
	listed map[string]bool
}

func (w *witness) String() string {
	questions, _ := json.Marshal(w.asked.Questions)
	return fmt.Sprintf("%+v\n%s", w.access, questions)
}

// compile compiles both trees. The problem says why one of them does not compile.
func compile(ctx context.Context, tb testing.TB, e *policytest.Edit) (p *pair, problem error) {
	tb.Helper()
	p = &pair{Edit: e, listed: map[string]bool{}}
	old, next := e.Trees()
	for side, tree := range []policytest.Tree{old, next} {
		src, err := policies.Read(tree)
		if err != nil {
			tb.Fatal(err)
		}
		set, _, err := proof.Compile(ctx, src)
		if err != nil {
			return nil, err
		}
		p.sets[side] = set
		for _, action := range set.Actions() {
			p.listed[action.ID] = true
		}
	}
	return p, nil
}

// shows asks both trees by plain evaluation, without a cache. A failed evaluation denies, and so does a tree without
// the route.
func (p *pair) shows(ctx context.Context, asked *policytest.Asked) (w witness, turns, allowed bool) {
	var allow [2]bool
	for side, q := range asked.Questions {
		if q == nil {
			continue
		}
		if asked.Entry == "decision" {
			if _, unlisted := p.sets[side].Unlisted(q.Action); unlisted {
				continue
			}
		}
		d, err := p.sets[side].Judge(ctx, "data.authz."+asked.Entry, *q, 10*time.Second)
		allow[side] = err == nil && d.Allowed
	}
	side := 0
	if allow[1] {
		side = 1
	}
	if q := asked.Questions[side]; q != nil {
		w = witness{asked, access{asked.Entry, asked.Route, q.Action.ID, q.Principal.Kind, q.Principal.Credential, allow[1]}}
	}
	return w, allow[0] != allow[1], allow[0] || allow[1]
}

// has says whether exactly the trees with the route of a question were asked it.
func (p *pair) has(asked *policytest.Asked) bool {
	for side, set := range p.sets {
		listed := slices.ContainsFunc(set.Routes(), func(row resources.Route) bool { return row.Name == asked.Route })
		if asked.Entry == "access" && listed != (asked.Questions[side] != nil) {
			return false
		}
	}
	return true
}

// covers says whether a row matches a witness: by entry point, direction, kind of caller, credential, route and action.
// An action that neither tree lists matches any unlisted one of its scope, because a comparison asks about few of them.
// A row may name the verb or another unlisted one.
func (p *pair) covers(row, shown access) bool {
	scope := func(action string) string { return strings.Split(action, ":")[0] }
	action := row.action == shown.action ||
		!p.listed[shown.action] && !p.listed[row.action] && scope(row.action) == scope(shown.action)
	row.action, shown.action = "", ""
	return action && row == shown
}

// hidden returns the first witness without a row, if no gap is in a file of the edit. If somebody is let in, guards
// must refuse as well.
func (p *pair) hidden(ctx context.Context, seen []witness) (hides *witness, gapped bool, err error) {
	foretold, err := compare.GapsOf(ctx, p.sets[0], p.sets[1])
	if err != nil {
		return nil, false, err
	}
	if p.names(foretold) {
		return nil, true, nil
	}
	report, err := diff.Compare(ctx, p.sets[0], p.sets[1], 2)
	if err != nil {
		return nil, false, err
	}
	rows := turning(report)
	if gapped = p.names(report.NotExhaustive); !gapped && slices.ContainsFunc(seen, func(w witness) bool { return w.gained }) {
		var refused guards.Refused
		if err := guards.Judge(ctx, p.sets[0], p.sets[1], report, 0); !errors.As(err, &refused) && ctx.Err() == nil {
			return &seen[0], false, fmt.Errorf("guards take it: %w", err)
		}
	}
	for i := range seen {
		if !gapped && !slices.ContainsFunc(rows, func(row access) bool { return p.covers(row, seen[i].access) }) {
			return &seen[i], gapped, nil
		}
	}
	return nil, gapped, nil
}

// witnesses asks so many random questions at each entry point, and returns those that turn, one of each kind.
func (p *pair) witnesses(ctx context.Context, r policytest.Random, n int) (out []witness) {
	asker := policytest.NewAsker(r, p.Words(), p.sets[0], p.sets[1])
	kinds := map[access]bool{}
	for _, entry := range []string{"decision", "access", "grantable"} {
		var near []*policytest.Asked
		for range n {
			next := asker.Ask(entry)
			if len(near) > 0 && r.IntN(3) > 0 {
				next = asker.Near(policytest.One(r.Rand, near...))
			}
			w, turns, allowed := p.shows(ctx, next)
			if allowed {
				near = append(near, next)
			}
			if !w.gained && w.caller == "none" { // a route that now needs a credential is not a question of policy
				continue
			}
			if turns && !kinds[w.access] {
				kinds[w.access] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// hunted counts the outcomes of many edits.
type hunted struct {
	sync.Mutex
	programs, refused, alike, letIn, keptOut, rows, gaps, late, hidden int
}

// hunt draws an edit that compiles, and checks the comparison against random questions.
func (h *hunted) hunt(tb testing.TB, name string, draw func() *policytest.Edit, r policytest.Random) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	refused := 0
	p, problem := compile(ctx, tb, draw())
	for ; problem != nil; p, problem = compile(ctx, tb, draw()) {
		refused++
	}
	seen := p.witnesses(ctx, r, 120)
	var hides *witness
	var gapped bool
	var err error
	if len(seen) > 0 {
		hides, gapped, err = p.hidden(ctx, seen)
	}
	h.Lock()
	defer h.Unlock()
	h.programs++
	h.refused += refused
	switch {
	case len(seen) == 0:
		h.alike++
		return
	case slices.ContainsFunc(seen, func(w witness) bool { return w.gained }):
		h.letIn++
	default:
		h.keptOut++
	}
	switch {
	case hides != nil:
		h.hidden++
		tb.Errorf("%s: hidden, %v\n%s", name, err, smallest(tb, p.Edit, *hides))
	case ctx.Err() != nil: // guards refuse a timeout
		h.late++
	case err != nil:
		tb.Errorf("%s: %v\n%s", name, err, p.Edit)
	case gapped:
		h.gaps++
	default:
		h.rows++
	}
}

// smallest returns the smallest edit that hides the same question.
func smallest(tb testing.TB, e *policytest.Edit, hides witness) string {
	tb.Helper()
	ctx := context.Background()
	e = e.Minimised(func(e *policytest.Edit) bool {
		p, problem := compile(ctx, tb, e)
		if problem != nil {
			return false
		}
		w, turns, _ := p.shows(ctx, hides.asked)
		if !turns || w.gained != hides.gained || !p.has(hides.asked) {
			return false
		}
		hidden, _, _ := p.hidden(ctx, []witness{w})
		return hidden != nil
	})
	return fmt.Sprintf("%s%s", e, &hides)
}

// TestNobodyIsLetInUnseen guarantees a row, or a gap in a file of the change, for every change of access. It guarantees
// that guards refuse newly allowed access. The changes follow a grammar far beyond the followed forms. Plain evaluation
// is the witness.
func TestNobodyIsLetInUnseen(t *testing.T) {
	seed, wanted := huntOf(t)
	began, h := time.Now(), &hunted{}
	inputs := policytest.NewInputs(t, policies.Tree())
	next, wait := make(chan int), sync.WaitGroup{}
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				r := policytest.NewRandom(seed, uint64(i))
				h.hunt(t, fmt.Sprintf("seed %d, program %d", seed, i), func() *policytest.Edit { return inputs.Edit(t, r, policies.Tree()) }, r)
			}
		})
	}
	for i := range wanted {
		next <- i
	}
	close(next)
	wait.Wait()
	t.Logf("seed %d, %.0f s: %d programs (%d did not compile); %d let somebody in, %d only keep somebody out, of %d no question turns; "+
		"told by rows %d, by gaps %d, not compared in time %d, hidden %d",
		seed, time.Since(began).Seconds(), h.programs, h.refused, h.letIn, h.keptOut, h.alike, h.rows, h.gaps, h.late, h.hidden)
	if h.letIn < wanted/20 {
		t.Error("too few let somebody in")
	}
}

// huntOf returns the seed, and how many programs are tried.
func huntOf(tb testing.TB) (seed uint64, wanted int) {
	tb.Helper()
	seed, wanted = 1, tier.Amount(25, 6)
	for name, set := range map[string]func(uint64){
		"PORTCULLIS_TEST_PROGRAMS": func(n uint64) { wanted = int(n) },
		"PORTCULLIS_TEST_SEED":     func(n uint64) { seed = n },
	} {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			set(n)
		}
	}
	return seed, wanted
}

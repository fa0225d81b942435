//go:build !race

package engine_test

// One goroutine asks: the race detector would only make it slow (verdicts_test.go has many).

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// whole is the key that lacks no part.
const whole = ""

// asked is what was asked, the whole key of its verdict, and what OPA answers without a cache.
type asked struct {
	policytest.Ask
	key      string
	judged   bool
	decision resources.Decision
	failure  engine.Failure
}

// judge asks OPA, unless it was asked.
func (a *asked) judge(set *engine.Set) {
	if a.judged {
		return
	}
	var err error
	a.judged = true
	if a.decision, err = set.Unfilled(context.Background(), "data.authz."+a.Entry, a.Asked(), time.Minute); err != nil {
		a.failure = engine.FailureOf(err)
	}
}

func (a *asked) same(b *asked) bool {
	return a.failure == b.failure && a.decision.Allowed == b.decision.Allowed && a.decision.Code == b.decision.Code && a.decision.Reason == b.decision.Reason
}

func (a *asked) String() string {
	text, _ := json.Marshal(a.Ask)
	return fmt.Sprintf("%s\n-> %v %q %q %s", text, a.decision.Allowed, a.decision.Code, a.decision.Reason, a.failure)
}

// nameOf returns the key of the verdict without one part; "" if the verdict is not cached.
func nameOf(keys *engine.Keys, part string, a *policytest.Ask) string {
	q := a.Asked()
	return keys.Of(part, a.Entry, &q)
}

// pairs compares the answers to questions with equal keys: whole keys, and keys without one part.
type pairs struct {
	seed   uint64
	each   int // is how many questions are asked of a tree
	inputs *policytest.Inputs
	// wrong has the first wrong pair by what the key lacks; ignored are the keys without one.
	wrong   map[string]string
	ignored []string
	// asked counts the questions, mutated the mutations with a cacheable verdict. Of these, equal counts those with
	// the key of their original, and failed those with an error of OPA.
	trees, refused, asked, mutated, equal, failed int
}

func newPairs(tb testing.TB, seed uint64, each int, ignored ...string) *pairs {
	tb.Helper()
	return &pairs{seed: seed, each: each, inputs: policytest.NewInputs(tb, policies.Tree()), wrong: map[string]string{}, ignored: slices.Clone(ignored)}
}

// compiled is a tree that need not prove itself.
func compiled(tb testing.TB, tree policytest.Tree) (*engine.Set, error) {
	tb.Helper()
	src := must.Get(policies.Read(tree))(tb)
	return compile(context.Background(), src)
}

// tree asks questions of the next tree. Each tenth is the embedded one.
func (p *pairs) tree(tb testing.TB) {
	tb.Helper()
	p.trees++
	r, tree := policytest.NewRandom(p.seed, uint64(p.trees)), policytest.Copy(tb, policies.Tree())
	if p.trees%10 != 1 {
		tree = p.inputs.Program(tb, r, tree)
	}
	set, err := compiled(tb, tree)
	if err != nil {
		if p.refused++; p.trees%10 == 1 {
			tb.Fatal(err)
		}
		return
	}
	t := &asking{set: set, keys: engine.NewKeys(set), tree: tree, first: map[string]map[string]*asked{}}
	for _, part := range p.ignored {
		t.first[part] = map[string]*asked{}
	}
	var before []*asked
	for range p.each {
		next := &asked{}
		var former *asked
		if len(before) < 20 || r.IntN(20) == 0 {
			next.Ask = r.Ask()
		} else {
			former = before[r.IntN(len(before))]
			next.Ask = r.Mutate(former.Ask)
		}
		next.key = nameOf(t.keys, whole, &next.Ask)
		before = append(before, next)
		p.ignored = slices.DeleteFunc(p.ignored, func(part string) bool { return p.wrongWithout(part, t, next) })
		p.count(next, former)
	}
}

// asking is what was asked of one tree.
type asking struct {
	set  *engine.Set
	keys *engine.Keys
	tree policytest.Tree
	// first are those with which a key was seen first, by what the key lacks.
	first map[string]map[string]*asked
}

// count takes note of a question that was made of another one.
func (p *pairs) count(next, former *asked) {
	p.asked++
	if former == nil || next.key == "" || former.key == "" {
		return
	}
	p.mutated++
	if next.key == former.key {
		p.equal++
		if next.failure != "" {
			p.failed++
		}
	}
}

// wrongWithout says whether the answer is another than the first one's with the same key.
func (p *pairs) wrongWithout(part string, t *asking, next *asked) bool {
	key := next.key
	if part != whole {
		key = nameOf(t.keys, part, &next.Ask)
	}
	first := t.first[part][key]
	if key == "" {
		return false
	}
	if first == nil {
		t.first[part][key] = next
		return false
	}
	first.judge(t.set)
	if next.judge(t.set); first.same(next) {
		return false
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.tree)) {
		if strings.HasPrefix(name, "authz/") && !strings.HasSuffix(name, "_test.rego") || name == "tables/data.json" {
			fmt.Fprintf(&text, "\n--- %s\n%s", name, t.tree[name].Data)
		}
	}
	p.wrong[part] = fmt.Sprintf("seed %d, tree %d, question %d of the run:\n%s\n%s%s", p.seed, p.trees, p.asked, first, next, &text)
	return true
}

// ofEnvironment returns the seed, and how many pairs are compared.
func ofEnvironment(tb testing.TB) (seed uint64, wanted int) {
	tb.Helper()
	seed, wanted = 1, tier.Amount(10_000, 3000)
	if text := os.Getenv("PORTCULLIS_TEST_VERDICTS"); text != "" {
		var err error
		if wanted, err = strconv.Atoi(text); err != nil {
			tb.Fatal(err)
		}
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("PORTCULLIS_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatal(err)
		}
	}
	return seed, wanted
}

// TestEqualKeysHaveEqualAnswers guarantees that OPA answers two questions alike, or fails at both alike, if they have
// one key. It asks the embedded tree, and trees with rules on every part of the input.
func TestEqualKeysHaveEqualAnswers(t *testing.T) {
	seed, wanted := ofEnvironment(t)
	began := time.Now()
	p := newPairs(t, seed, min(max(200, wanted/500), 2000), whole)
	for p.equal < wanted && len(p.ignored) > 0 {
		p.tree(t)
	}
	t.Logf("seed %d: %d pairs with equal keys of %d (%.0f %%), of which OPA fails at %d; %d questions of %d trees, %d refused; %.1f s", seed, p.equal, p.mutated,
		100*float64(p.equal)/float64(p.mutated), p.failed, p.asked, p.trees, p.refused, time.Since(began).Seconds())
	if text, wrong := p.wrong[whole]; wrong {
		t.Errorf("equal keys, other answers: %s", text)
	}
	if p.refused > p.trees/4 || p.equal < p.mutated/8 {
		t.Error("too little was compared")
	}
}

// TestTheKeyNeedsAllItsParts guarantees that the test above can fail: it finds a wrong pair for each part missing in
// the keys.
func TestTheKeyNeedsAllItsParts(t *testing.T) {
	tier.Check(t)
	seed, _ := ofEnvironment(t)
	parts := slices.Sorted(maps.Keys(engine.KeyParts()))
	p := newPairs(t, seed, 200, parts...)
	differences := map[string]int{}
	for p.trees < 2000 && len(p.ignored) > 0 {
		p.tree(t)
		for part := range p.wrong {
			if differences[part] == 0 {
				differences[part] = p.asked
			}
		}
	}
	for _, part := range parts {
		t.Logf("%s: found out within %d questions", part, differences[part])
	}
	if len(p.ignored) > 0 {
		t.Errorf("seed %d: not found out by %d questions of %d trees: %q", seed, p.asked, p.trees, p.ignored)
	}
}

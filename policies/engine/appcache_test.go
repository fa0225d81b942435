package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestWhatIsCachedOfAnApp guarantees that the engine reuses an app's answer only if it is a function of the input its
// rules read.
func TestWhatIsCachedOfAnApp(t *testing.T) {
	for name, c := range map[string]struct {
		condition string
		want      bool
	}{
		"a property":                {`input.resource.properties.owner == "bob"`, true},
		"all of the resource":       {`count(input.resource) == 3`, true},
		"a property by a name":      {`input.resource.properties[input.action.name]`, true},
		"the status":                {`input.facts.status == "ACTIVE"`, true},
		"the assignments":           {`some a in input.facts.assignments; a.running`, true},
		"the roles":                 {`count(input.facts.roles) == 0`, true},
		"the caller":                {`input.facts.principal.id != ""`, true},
		"the time":                  {`input.facts.now > 0`, false},
		"all of the facts":          {`count(input.facts) == 7`, false},
		"a fact by a name":          {`input.facts[input.action.name]`, false},
		"all of the input":          {`count(input) == 5`, false},
		"a part by a name":          {`input[input.action.name]`, false},
		"another input":             {`other with input.resource as {}`, false},
		"the machine's time":        {`time.now_ns() > 0`, false},
		"chance":                    {`rand.intn("a", 2) == 0`, false},
		"what the time is named in": {`object.get(input, ["facts", "now"], 0) > 0`, false},
	} {
		t.Run(name, func(t *testing.T) {
			tree := withApp(t, "default decision := false\n\ndecision if {\n\t"+c.condition+"\n}\n\nother if input.resource.type != \"\"")
			counted := newCounted(t, tree, 0)
			for range 3 {
				must.Get(counted.DecideApp(t.Context(), appQuestion(`{"owner": "bob", "read": true}`)))(t)
			}
			if hits := map[bool]int{true: 2}[c.want]; counted.hits != hits || counted.evaluated != 3-hits {
				t.Errorf("%d hits, %d evaluations", counted.hits, counted.evaluated)
			}
		})
	}
}

// TestAnAnswerOfAnAppIsReusedForAllItDoesNotRead guarantees that a key has no more than the rules read.
func TestAnAnswerOfAnAppIsReusedForAllItDoesNotRead(t *testing.T) {
	counted := newCounted(t, withApp(t, `decision := input.resource.properties.owner == input.subject.id`), 0)
	for i := range 5 {
		q := appQuestion(fmt.Sprintf(`{"owner": "x", "n": %d}`, i))
		q.App.Context, q.Now = fmt.Appendf(nil, `{"n": %d}`, i), resources.Time(i)
		q.Principal.ID = fmt.Sprint(i)
		q.Facts.Subject = policytest.ActiveSubject()
		if d, err := counted.DecideApp(t.Context(), q); err != nil || d.Allowed {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	if counted.evaluated != 1 {
		t.Errorf("%d evaluations", counted.evaluated)
	}
}

// plain is an app without assignments. The digest of the assignments would distinguish all facts.
const plain = `package apps.%s

types := {"%s"}

decision := {"decision": object.get(input.context, "x", 0) == %d, "context": {"a": [
	{p | p := input.resource.properties}, input.facts.status, input.facts.member, input.facts.account.id,
]}}
`

// appWorld has three apps, which together read every part of the input in one way or another; two read the same.
func appWorld(t *testing.T) policytest.Tree {
	return withApp(t, `decision := {"decision": input.action.name == "read", "context": {"saw": saw}}

saw := [
	object.get(input.resource, ["properties", "a"], "-"), object.get(input.subject, "id", "-"), input.context.x,
	input.facts.status, input.facts.member, input.facts.account.id, input.facts.principal.id,
	[[a.role, a.running, a.project] | some a in input.facts.assignments], [r.id | some r in input.facts.roles],
] if input.context.x

else := [input.resource, input.subject]
`).With("apps/other/other.rego", fmt.Sprintf(plain, "other", "other", 1)).With("apps/same/same.rego", fmt.Sprintf(plain, "same", "same", 2))
}

// FuzzACachedAnswerOfAnAppIsAFreshOne guarantees that apps answer every question alike with and without the cache.
// TestTheKeyOfAnAppNeedsAllItsParts shows that it finds a wrong key.
func FuzzACachedAnswerOfAnAppIsAFreshOne(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(2))
	f.Fuzz(func(t *testing.T, seed uint64) {
		cached, uncached := appEngines(t)
		if difference := firstDifference(t.Context(), cached, uncached, seed, 500); difference != "" {
			t.Error(difference)
		}
	})
}

func TestTheKeyOfAnAppNeedsAllItsParts(t *testing.T) {
	cached, uncached := appEngines(t)
	spoil := map[string]func(*question.AppPlan){
		"the app":                func(p *question.AppPlan) { p.Entry = 0 },
		"what the subject holds": func(p *question.AppPlan) { p.Held = false },
	}
	var paths []string
	cached.SpoilApps(func(p *question.AppPlan) { paths = append(paths, p.Paths...) })
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		spoil[path] = func(p *question.AppPlan) {
			p.Paths = slices.DeleteFunc(slices.Clone(p.Paths), func(other string) bool { return other == path })
		}
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			mutant := newEngine(t, appWorld(t), engine.Options{})
			mutant.SpoilApps(change)
			for seed := range uint64(20) {
				if firstDifference(t.Context(), mutant, uncached, seed, 500) != "" {
					return
				}
			}
			t.Error("nobody notices that it is no part of the key")
		})
	}
}

func appEngines(t *testing.T) (cached, uncached *engine.Engine) {
	tree := appWorld(t)
	return newEngine(t, tree, engine.Options{}), newEngine(t, tree, engine.Options{Verdicts: -1})
}

// firstDifference asks both the same random questions, of a small world, so that many share a part.
func firstDifference(ctx context.Context, cached, uncached *engine.Engine, seed uint64, questions int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	one := func(all ...string) string { return all[random.IntN(len(all))] }
	values := []string{`1`, `1.0`, `"1"`, `null`, `true`, `[]`, `{}`, `[1]`, `{"a":1}`, `{"b":1}`, `{"a":{"a":1}}`, `["a","b"]`, `["ab"]`, `"ab"`, `["a",["b"]]`}
	subjects := appSubjects()
	for range questions {
		s := subjects[random.IntN(len(subjects))]
		account := "acct-demo-v1"
		if s == nil {
			account = one("acct-demo-v1", "")
		}
		kind := one("doc", "page", "other", "same")
		sent := &resources.Entities{
			ResourceType: kind,
			Subject:      []byte(one(`{"id":"a"}`, `{"id":`+one(values...)+`}`, `{}`)),
			Action:       []byte(one(`{"name":"read"}`, `{"name":"write"}`, `{}`)),
			Resource:     []byte(`{"type":"` + kind + `"` + one(``, `,"a":1`, `,"properties":`+one(values...), `,"properties":{"a":`+one(values...)+`}`) + `}`),
			Context:      []byte(one(`{}`, `{"x":`+one(values...)+`}`, `{"x":1}`)),
		}
		q := resources.Question{
			App: sent, Facts: resources.Facts{Subject: s}, AccountID: account, Now: resources.Time(random.IntN(4)),
			Principal: resources.Principal{Kind: resources.PrincipalService, ID: one("service-a", "service-b"), Credential: resources.CredentialToken},
		}
		got, gotErr := cached.DecideApp(ctx, q)
		want, wantErr := uncached.DecideApp(ctx, q)
		if got.Allowed != want.Allowed || got.Reason != want.Reason || contextOf(got) != contextOf(want) || (gotErr == nil) != (wantErr == nil) {
			return fmt.Sprintf("%s %s %s: %v %s, fresh %v %s", sent.Subject, sent.Resource, sent.Context, got.Allowed, contextOf(got), want.Allowed, contextOf(want))
		}
	}
	return ""
}

func appSubjects() []*resources.Subject {
	suspended, stranger, admin, ending, custom := policytest.ActiveSubject(), policytest.ActiveSubject(), policytest.AdminSubject(), policytest.AdminSubject(), policytest.AdminSubject()
	suspended.UserStatus = resources.StatusSuspended
	stranger.Member = false
	ending.Assignments[0].ExpiresAt = 2
	custom.Assignments[0].Custom, custom.Assignments[0].RoleID = true, "role-own-v1"
	return []*resources.Subject{nil, policytest.ActiveSubject(), suspended, stranger, admin, ending, custom}
}

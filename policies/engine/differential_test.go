//go:build !race

package engine_test

// One goroutine asks: the race detector would only make it slow (verdicts_test.go has many).

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// tells reads the input part by part, and gives back all of it: whatever the key would
// leave out is seen in the reason.
const tells = `told(entry) := json.marshal([
	entry, input.action, input.principal, input.route, input.account, input.subject, input.target, input.grant, running,
])

running := {[p, r, i] | some p, r, i; input.subject.assignments[p][r][i].running}

decision := {"allow": count(running) > 0, "reason": told("decision")}`

const tellsAccess = `access := {"allow": count(running) > 1, "reason": told("access")}

grantable := {"allow": count(running) > 2, "reason": told("grantable")}`

// odd are trees whose decision rests on something that few policies read. They all deny
// whom nobody knows.
func odd() []string {
	const otherwise = "\n\nelse := "
	return []string{
		`decision := {"allow": true, "reason": concat(" ", [input.target.rest, input.action.verb])} if { input.subject.exists; input.target.user == input.principal.uuid }` +
			otherwise + `{"allow": false, "reason": input.target.user}`,
		`decision := {"allow": true, "reason": "scoped"} if input.principal.scopes["users:sync"]` +
			otherwise + `{"allow": false, "reason": concat(",", object.keys(input.principal.key_scopes))}`,
		`decision := {"allow": input.subject.member, "reason": json.marshal([input.action.patterns, input.subject.here])}`,
		`decision := {"allow": true, "reason": sprintf("%v", [input.principal.scopes])} if { input.principal.kind == "service"; input.subject.exists }` +
			otherwise + `{"allow": false, "reason": input.principal.uuid} if input.principal.kind == "user"` +
			otherwise + `{"allow": false, "reason": named("service", input.target.user)}` + "\n\n" +
			`named(kind, x) := x if { kind != "user"; input.principal.kind != "user" }`,
		`decision := {"allow": true, "reason": "a custom role"} if { input.subject.roles["role-a-v1"]; running }` +
			otherwise + `{"allow": false, "reason": input.account.status}` + "\n\n" +
			`running if { some p, r, i; a := input.subject.assignments[p][r][i]; not a.running == false }`,
		`decision := {"allow": true, "reason": "one runs"} if { input.subject.exists; input.subject.assignments[_][_][_].running }` + otherwise + `{"allow": false, "reason": "none"}`,
		`decision := {"allow": input.subject.exists, "reason": format_int(input.now, 10)}`,
		`decision := {"allow": true, "reason": "even"} if { input.subject.exists; input.now % 2 == 0 }` + otherwise + `{"allow": false, "reason": "odd"}`,
		`decision := {"allow": input.subject.exists, "reason": format_int(time.now_ns(), 10)}`,
		`decision := {"allow": input.subject.exists, "reason": json.marshal(input)}`,
		`decision := {"allow": input.subject.exists, "reason": json.marshal(object.get(input, input.route.name, "none"))}`,
		`decision := {"allow": input.subject.exists, "reason": sprintf("%v", [late])}` + "\n\n" +
			`late := other if other := changed with input.route.name as "now"` + "\n\n" + `changed := object.get(input, input.route.name, 0)`,
		`decision := {"allow": false, "reason": "unknown"} if not input.subject.exists` +
			otherwise + `{"allow": true, "reason": "fails for some"} if to_number(input.target.user) == 1`,
		`decision := {"allow": true, "reason": input.target.project_state} if { input.subject.exists; input.grant.until > 5 }` +
			otherwise + `{"allow": false, "reason": "no"}`,
	}
}

// tellingTree gives back all that each entry point reads.
func tellingTree(tb testing.TB) policytest.Tree {
	tb.Helper()
	t := policytest.Decision(tb, tells)
	head, _, _ := strings.Cut(string(t["authz/authz.rego"].Data), "default access")
	return t.With("authz/authz.rego", head+tellsAccess+"\n")
}

// worlds are the sets that the differential test goes between, loaded once.
func worlds(tb testing.TB) []*engine.Set {
	tb.Helper()
	trees := []policytest.Tree{tellingTree(tb), policytest.Copy(tb, policies.Tree())}
	again := tellingTree(tb)
	trees = append(trees, again.With("authz/authz.rego", strings.Replace(string(again["authz/authz.rego"].Data), "entry, input.action", "entry, 2, input.action", 1)))
	for _, rules := range odd() {
		trees = append(trees, policytest.Decision(tb, rules))
	}
	sets := make([]*engine.Set, len(trees))
	for i, tree := range trees {
		var err error
		if sets[i], err = load(tb, tree); err != nil {
			tb.Fatalf("tree %d: %v", i, err)
		}
	}
	return sets
}

// asking is one thing to ask: a question at an entry point, or a grant.
type asking struct {
	entry string
	q     resources.Question
	g     resources.Grant
}

func (a *asking) of(e *engine.Engine) (resources.Decision, error) {
	switch a.entry {
	case "decision":
		return e.Decide(context.Background(), a.q)
	case "access":
		return e.Access(context.Background(), a.q)
	}
	g := a.g
	g.Principal, g.AccountID, g.Facts, g.Now = a.q.Principal, a.q.AccountID, a.q.Facts, a.q.Now
	g.ProjectID, g.ResourceID = a.q.Target.ProjectID, a.q.Target.Resource
	return e.Inside().Grantable(context.Background(), g)
}

// differing asks two engines the same, of which one has a cache.
type differing struct {
	*rand.Rand
	sets            []*engine.Set
	caches          *engine.Engine
	judges          *engine.Engine
	asked           []asking
	spoil           func(*engine.Engine)
	questions, hits int
}

func newDiffering(tb testing.TB, sets []*engine.Set, spoil func(*engine.Engine)) *differing {
	tb.Helper()
	d := &differing{sets: sets, spoil: spoil}
	seen := engine.Observer{Cached: func(string) { d.hits++ }}
	d.caches = newEngine(tb, policytest.Small(tb), engine.Options{Verdicts: 4096, Observer: seen})
	d.judges = newEngine(tb, policytest.Small(tb), engine.Options{Verdicts: -1})
	return d
}

// run asks so many questions and gives the first difference, "" for none.
func (d *differing) run(seed uint64, questions int) string {
	d.Rand = rand.New(rand.NewPCG(seed, 1))
	d.asked = d.asked[:0]
	d.reload(0)
	for range questions {
		if d.IntN(150) == 0 {
			d.reload(d.IntN(len(d.sets)))
		}
		next := d.next()
		got, gotErr := next.of(d.caches)
		want, wantErr := next.of(d.judges)
		d.questions++
		if got != want || told(gotErr) != told(wantErr) {
			return fmt.Sprintf("seed %d: %s of %+v:\ngot  %+v, %v\nwant %+v, %v", seed, next.entry, next.q, got, gotErr, want, wantErr)
		}
	}
	return ""
}

func told(err error) string {
	if err == nil {
		return ""
	}
	return resources.AsError(err).Cause.Error()
}

// reload goes to another tree, or to the same one anew.
func (d *differing) reload(i int) {
	d.caches.Bring(d.sets[i].Copy())
	d.judges.Bring(d.sets[i].Copy())
	d.spoil(d.caches)
}

// next is a question that was asked before, most often with one thing changed.
func (d *differing) next() asking {
	if len(d.asked) < 8 || d.IntN(40) == 0 {
		a := asking{entry: "decision", q: policytest.Question(someSubject(d.Rand), "project:a:b")}
		for range 12 {
			d.change(&a)
		}
		d.asked = append(d.asked, a)
		return a
	}
	if len(d.asked) > 64 {
		d.asked = slices.Delete(d.asked, 0, 32)
	}
	at := d.IntN(len(d.asked))
	a := d.asked[at]
	if d.IntN(4) > 0 {
		d.change(&a)
		d.asked = append(d.asked, a)
	}
	return a
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func (d *differing) change(a *asking) {
	r, p, t := d.Rand, &a.q.Principal, &a.q.Target
	changes := []func(){
		func() { a.entry = pick(r, "decision", "access", "grantable") },
		func() { p.Kind = pick(r, "user", "service", "none", "") },
		func() { p.ID = pick(r, "user-bob-v1", "user-eve-v1", "") },
		func() { p.UUID = pick(r, "b0b", "e5e", "1") },
		func() { p.AccountID = pick(r, "acct-demo-v1", "acct-other-v1") },
		func() { p.Credential = pick(r, "token", "key", "none") },
		func() {
			p.Scopes = pick(r, nil, []string{"users:sync"}, []string{"users:", "sync"}, []string{"authz:check", "users:sync"})
		},
		func() {
			p.KeyScopes = pick(r, nil, []string{"read"}, []string{"read", "write"}, []string{"write", "read"})
		},
		func() { a.q.Action.ID = pick(r, "project:a:b", "account:user:read", "") },
		func() { a.q.Action.Scope = pick(r, "project", "account", "resource", "") },
		func() { a.q.Action.Resource = pick(r, "a", "user", "ab") },
		func() { a.q.Action.Verb = pick(r, "b", "read", "") },
		func() {
			a.q.Action, _ = resources.ParseAction(pick(r, "project:a:b", "account:user:read", "project:a:read"))
		},
		func() { a.q.Route.Name = pick(r, "authorization.check", "role_assignment.list_of_user", "grant", "") },
		func() { a.q.Route.Effect = pick(r, "read", "write", "") },
		func() {
			a.q.Route.Access = pick(r, nil, []string{"self"}, []string{"asks_self", "service:users:sync"}, []string{"member"})
		},
		func() { t.AccountID = pick(r, "acct-demo-v1", "acct-other-v1", "") },
		func() { t.ProjectID = pick(r, "proj-demo-v1", "proj-other-v1", "") },
		func() { t.Resource = pick(r, "instances/i-1", "instances/i-10", "") },
		func() { t.Rest = pick(r, "instances/i-1/disks", "instances/i-1", "") },
		func() { t.UserID = pick(r, "user-bob-v1", "b0b", "1", "0") },
		func() { a.q.Facts.ProjectState = pick(r, "active", "deleting", "absent", "") },
		func() {
			a.g.Permissions = pick(r, nil, []string{"project:a:b"}, []string{"project:a:b", "account:*:*"}, []string{"project:a:ba", "ccount:*:*"})
		},
		func() { a.g.Until = pick[resources.Time](r, 0, start+1000, start+2000, -1) },
		func() { a.q.Now = start + resources.Time(r.IntN(9)-4)*500 },
		func() { a.q.Now += resources.Time(r.IntN(3) - 1) },
		func() { a.q.Facts.Subject = someSubject(r) },
		func() { a.changeFacts(r) },
		func() { a.q.Facts.Subject, a.q.AccountID = nil, pick(r, "acct-demo-v1", "acct-other-v1", "") },
	}
	changes[r.IntN(len(changes))]()
	if s := a.q.Facts.Subject; s != nil {
		a.q.AccountID = s.AccountID
	}
}

// start is the time of the first questions.
const start resources.Time = 1_767_225_600_000

// changeFacts is a write: facts are never changed, but replaced by others.
func (a *asking) changeFacts(r *rand.Rand) {
	old := a.q.Facts.Subject
	if old == nil {
		return
	}
	s := &resources.Subject{
		AccountID: old.AccountID, AccountExists: old.AccountExists, AccountStatus: old.AccountStatus, UserID: old.UserID, UserUUID: old.UserUUID,
		UserExists: old.UserExists, UserStatus: old.UserStatus, Member: old.Member, Assignments: slices.Clone(old.Assignments),
	}
	changes := []func(){
		func() {}, // the same facts at another revision
		func() { s.AccountID = pick(r, "acct-demo-v1", "acct-other-v1") },
		func() { s.AccountStatus = pick(r, "ACTIVE", "SUSPENDED") },
		func() { s.AccountExists = !s.AccountExists },
		func() { s.UserID = pick(r, "user-bob-v1", "user-eve-v1") },
		func() { s.UserExists = !s.UserExists },
		func() { s.UserStatus = pick(r, "ACTIVE", "INACTIVE") },
		func() { s.Member = !s.Member },
		func() { s.Assignments = append(s.Assignments, someRole(r)) },
		func() { s.Assignments = s.Assignments[:len(s.Assignments)/2] },
		func() {
			if len(s.Assignments) > 0 {
				s.Assignments[0].ExpiresAt = someEnd(r)
			}
		},
	}
	changes[r.IntN(len(changes))]()
	a.q.Facts.Subject = s
}

func someEnd(r *rand.Rand) resources.Time {
	return pick(r, 0, start-1000, start, start+1, start+1000, never)
}

func someSubject(r *rand.Rand) *resources.Subject {
	s := pick(r, policytest.ActiveSubject, policytest.AdminSubject)()
	for range r.IntN(4) {
		s.Assignments = append(s.Assignments, someRole(r))
	}
	return s
}

func someRole(r *rand.Rand) resources.HeldRole {
	h := resources.HeldRole{
		RoleID: pick(r, "account_admin", "project_reader", "role-a-v1"), RoleScope: pick(r, "ACCOUNT", "PROJECT", "RESOURCE"),
		RoleStatus: pick(r, "ACTIVE", "ACTIVE", "INACTIVE"), Status: pick(r, "ACTIVE", "ACTIVE", "INACTIVE"),
		ProjectID: pick(r, "", "proj-demo-v1", "proj-other-v1"), ResourceID: pick(r, "", "", "instances/i-1"), ExpiresAt: someEnd(r),
	}
	if h.RoleID == "role-a-v1" {
		h.Custom, h.Permissions = true, pick(r, []string{"project:*:*"}, []string{"project:a:b", "account:*:*"}, []string{"project:a:read"})
	}
	return h
}

// FuzzCachedVerdictIsAFreshOne asks an engine with a cache and one without
// the same questions, through changes of facts, of the time and of the tree: the answers
// are equal, and so are the failures.
func FuzzCachedVerdictIsAFreshOne(f *testing.F) {
	d := newDiffering(f, worlds(f), func(*engine.Engine) {})
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
	d := newDiffering(t, worlds(t), func(*engine.Engine) {})
	began := time.Now()
	for seed := range uint64(30) {
		if difference := d.run(seed, 1000); difference != "" {
			t.Fatal(difference)
		}
	}
	t.Logf("%d questions, %d of them hits, %.0f a minute", d.questions, d.hits, float64(d.questions)/time.Since(began).Minutes())
	if d.hits < d.questions/4 {
		t.Errorf("only %d of %d were hits", d.hits, d.questions)
	}
}

// TestTheKeyNeedsAllItsParts guarantees that the differential test can fail: it finds
// out each part that is left out of the key.
func TestTheKeyNeedsAllItsParts(t *testing.T) {
	sets := worlds(t)
	for name, spoil := range engine.Mutants() {
		t.Run(name, func(t *testing.T) {
			d := newDiffering(t, sets, spoil)
			for seed := range uint64(20) {
				if d.run(seed, 1000) != "" {
					t.Logf("found out after %d questions", d.questions)
					return
				}
			}
			t.Errorf("not found out by %d questions", d.questions)
		})
	}
}

package engine_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// counted is an engine that counts evaluations, and hits in the cache.
type counted struct {
	*engine.Engine
	evaluated, hits int
}

func newCounted(tb testing.TB, tree policytest.Tree, verdicts int) *counted {
	tb.Helper()
	c := &counted{}
	c.Engine = newEngine(tb, tree, engine.Options{Verdicts: verdicts, Observer: engine.Observer{
		Evaluated: func(string, time.Duration, engine.Failure) { c.evaluated++ },
		Cached:    func(string) { c.hits++ },
	}})
	return c
}

// lasting is a condition on an assignment that only its end changes.
const lasting = `some a in input.subject.assignments[""][""]; `

// TestWhatIsCached guarantees that the engine reuses a verdict only if it is a function of its key.
func TestWhatIsCached(t *testing.T) {
	for name, c := range map[string]struct {
		condition string
		want      bool
	}{
		"no time":                         {`input.target.rest != ""`, true},
		"whether an assignment runs":      {lasting + `a.running`, true},
		"whether one runs, by a function": {lasting + `running(a)`, true},
		"when one ends":                   {lasting + `a.expires > 5`, true},
		"when one ends, and the grant":    {lasting + `a.expires > input.grant.until`, true},
		"the time":                        {`input.now < 1767225600001`, false},
		"the type of the time":            {`is_number(input.now)`, false},
		"before an end":                   {lasting + `input.now < a.expires`, false},
		"in a comprehension":              {`count([1 | ` + lasting + `input.now < a.expires]) > 0`, false},
		"a time in a set":                 {`input.now in {1, 2}`, false},
		"a time in a name":                {`now := input.now; now % 2 == 0`, false},
		"a time through a function":       {lasting + `before(input.now, a.expires)`, false},
		"all of the input":                {`count(input) == 8`, false},
		"all of the input in a name":      {`all := input; all.account.id != ""`, false},
		"a part by a name":                {`input[input.route.name] == 5`, false},
		"another input":                   {`other with input.now as 5`, false},
		"the machine's time":              {`time.now_ns() > 0`, false},
		"chance":                          {`rand.intn("a", 2) == 0`, false},
		"a fresh id":                      {`uuid.rfc4122("a") != ""`, false},
		"a token's age":                   {`io.jwt.decode_verify("", {})[0]`, false},
		"a certificate's age":             {`crypto.x509.parse_and_verify_certificates("")[0]`, false},
		"time in a rule of another file":  {`data.more.late`, false},
		"time in one of several packages": {`some name in ["more"]; data[name].late`, false},
		"time in a whole package":         {`all := data.more; all.late`, false},
		"time in a rule that isn't asked": {`not data.more.early`, true},
		"time in a branch":                {`branch`, false},
		"time in a default":               {`stamp != 7`, false},
		"time in a rule's name":           {`named[5]`, false},
		"time in a member of a set":       {`5 in times`, false},
		"time in a template":              {`$"{input.now}" != ""`, false},
		"time in an every":                {`every n in [1, 2] { input.now > n }`, false},
		"time in an else of a function":   {`f(3)`, false},
		"time as an argument":             {`f(input.now)`, false},
		"time in an object":               {`{"now": input.now}.now > 5`, false},
	} {
		t.Run(name, func(t *testing.T) {
			rules := `decision := {"allow": true, "reason": "yes"} if { input.subject.exists; ` + c.condition + ` }

else := {"allow": false, "reason": "no"}

before(now, end) if now < end

running(a) if a.running

other if input.account.id != ""

branch if input.account.id == "x"

else if input.now > 5

stamp := input.now if input.account.id == "x"

else := 7

named[n] if { n := 5; input.now > n }

times contains input.now

f(x) if x == 1

else if { x == 2; input.now > 5 }`
			tree := policytest.Decision(t, rules).With("more/more.rego", "package more\n\nlate if input.now > 5\n\nearly if input.route.name == \"x\"")
			set := must.Get(load(t, tree))(t)
			if got := set.IsCached("decision"); got != c.want {
				t.Errorf("reused: %v, want %v", got, c.want)
			}
			if !set.IsCached("grantable") {
				t.Error("an entry point that reaches none of it is not reused")
			}
		})
	}
}

// TestTheEmbeddedTreeIsCached guarantees that no edit of it costs its speed unseen.
func TestTheEmbeddedTreeIsCached(t *testing.T) {
	set := must.Get(load(t, policies.Tree()))(t)
	for _, entry := range []string{"decision", "access", "grantable"} {
		if !set.IsCached(entry) {
			t.Errorf("%s isn't reused", entry)
		}
	}
}

// TestNoFailureIsCached guarantees that each question after a failure is judged anew.
func TestNoFailureIsCached(t *testing.T) {
	for name, rules := range map[string]string{
		"built-in":  `decision := {"allow": false, "reason": "no"} if not input.subject.exists` + "\n\n" + `else := {"allow": true, "reason": "yes"} if to_number(input.account.id) > 0`,
		"undefined": `decision := {"allow": false, "reason": "no"} if not input.subject.exists`,
		"timeout":   `decision := {"allow": false, "reason": "no"} if not input.subject.exists` + "\n\n" + `else := {"allow": true, "reason": "yes"} if ` + policytest.Endless,
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			e := newEngine(t, policytest.Decision(t, rules), engine.Options{Deadline: 20 * time.Millisecond, Observer: engine.Observer{
				Evaluated: func(string, time.Duration, engine.Failure) { failed++ },
			}})
			for range 2 {
				d, err := e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read"))
				unavailable(t, d, err)
			}
			if failed != 2 {
				t.Errorf("%d evaluations of two questions", failed)
			}
		})
	}
}

// TestTheCacheIsBounded guarantees that the cache holds at most the configured number, keeps the verdicts in use, and
// stores no question of kilobytes.
func TestTheCacheIsBounded(t *testing.T) {
	const most = 64
	e := newCounted(t, policytest.Decision(t, `decision := {"allow": false, "reason": input.target.rest}`), most)
	ask := func(rest string) {
		q := policytest.Question(policytest.ActiveSubject(), "project:a:b")
		q.Target.Rest = rest
		if d, err := e.Decide(t.Context(), q); err != nil || d.Reason != rest {
			t.Fatalf("%q: %+v, %v", rest, d, err)
		}
	}
	for i := range 10 * most {
		ask("wanted")
		ask(itoa(i))
	}
	if e.hits < 10*most-20 {
		t.Errorf("what is asked for was a hit %d times of %d", e.hits, 10*most-1)
	}
	e.hits = 0
	for i := range 10 * most {
		ask(itoa(i))
	}
	if e.hits > most {
		t.Errorf("%d hits, of %d cached", e.hits, most)
	}
	long := strings.Repeat("x", 2000)
	ask(long)
	e.hits = 0
	if ask(long); e.hits != 0 {
		t.Error("a question of kilobytes is cached")
	}
}

// holding is an active user with an account's role, a role in a project, and one on a resource of it.
func holding() *resources.Subject {
	s := policytest.ActiveSubject()
	for _, place := range [][3]string{{"ACCOUNT", "", ""}, {"PROJECT", "proj-demo-v1", ""}, {"RESOURCE", "proj-demo-v1", "instances/i-1"}} {
		s.Assignments = append(s.Assignments, resources.HeldRole{
			RoleID: "role-" + place[0], Custom: true, RoleScope: place[0], RoleStatus: "ACTIVE", Status: "ACTIVE", ProjectID: place[1], ResourceID: place[2],
			Permissions: []string{"project:" + strings.ToLower(place[0]) + ":read"},
		})
	}
	return s
}

// TestANewResourceIsAnEqualQuestion guarantees that the shipped tree judges resources once, by the verdict of their
// place, if the user has no role on them. It judges a resource by itself if the user has a role on it.
func TestANewResourceIsAnEqualQuestion(t *testing.T) {
	e := newCounted(t, policytest.Copy(t, policies.Tree()), 0)
	s := holding()
	for i, c := range []struct {
		resource, action  string
		allowed, evaluate bool
	}{
		{"instances/i-0", "project:project:read", true, true},
		{"instances/i-2", "project:project:read", true, false},
		{"instances/i-10", "project:project:read", true, false},
		{"", "project:project:read", true, true},
		{"instances/i-1", "project:project:read", true, true},
		{"instances/i-0", "project:resource:read", false, true},
		{"instances/i-10", "project:resource:read", false, false},
		{"instances/i-1", "project:resource:read", true, true},
		{"instances/i-2", "project:resource:read", false, false},
	} {
		q := policytest.Question(s, c.action)
		q.Target.ProjectID, q.Target.Resource, q.Target.Rest = "proj-demo-v1", c.resource, c.resource
		before := e.evaluated
		d, err := e.Decide(t.Context(), q)
		if must.Do(t, err); d.Allowed != c.allowed || (e.evaluated > before) != c.evaluate {
			t.Errorf("%d: %s on %q: allowed %v, evaluated %v, want %v, %v", i, c.action, c.resource, d.Allowed, e.evaluated > before, c.allowed, c.evaluate)
		}
	}
}

// TestATreeThatReadsThePathJudgesEachByItself guarantees that a deny rule on the path is asked of every path.
func TestATreeThatReadsThePathJudgesEachByItself(t *testing.T) {
	tree := policytest.Copy(t, policies.Tree()).With("authz/own.rego", "package authz\n\ndeny contains \"the path is closed\" if startswith(input.target.rest, \"closed/\")\n")
	e := newCounted(t, tree, 0)
	for _, c := range []struct {
		rest    string
		allowed bool
	}{{"open/a", true}, {"closed/a", false}, {"open/b", true}, {"closed/b", false}} {
		q := policytest.Question(holding(), "project:project:read")
		q.Target.ProjectID, q.Target.Resource, q.Target.Rest = "proj-demo-v1", c.rest, c.rest
		d, err := e.Decide(t.Context(), q)
		if must.Do(t, err); d.Allowed != c.allowed {
			t.Errorf("%s: %+v", c.rest, d)
		}
	}
	if e.evaluated != 4 {
		t.Errorf("%d evaluations of four paths", e.evaluated)
	}
}

// TestKeysDontRunTogether guarantees that what ends one part of a key never begins the next.
func TestKeysDontRunTogether(t *testing.T) {
	e := newCounted(t, policytest.Decision(t, `decision := {"allow": false, "reason": json.marshal([
	input.target.resource, input.target.rest, input.principal.key_scopes, input.route.access,
])}`), 0)
	asked := 0
	for _, texts := range [][2]string{{"ab", "c"}, {"a", "bc"}, {"", "abc"}, {"abc", ""}, {"a\x02b", "c"}, {"a", "\x02bc"}} {
		for _, lists := range [][2][]string{{{"r", "s"}, nil}, {{"r"}, {"s"}}, {nil, {"r", "s"}}, {{"rs"}, nil}, {nil, {"rs"}}, {{"r", ""}, {"s"}}} {
			q := policytest.Question(policytest.ActiveSubject(), "project:a:b")
			q.Target.Resource, q.Target.Rest = texts[0], texts[1]
			q.Principal.Credential, q.Principal.KeyScopes, q.Route.Access = "key", lists[0], lists[1]
			must.Get(e.Decide(t.Context(), q))(t)
			asked++
		}
	}
	if e.hits != 0 || e.evaluated != asked {
		t.Errorf("of %d questions %d were taken for another", asked, e.hits)
	}
}

// TestNoEntryPointHasTheKeyOfAnother guarantees that a verdict is cached for its entry point alone, even if the rules of all
// read the same.
func TestNoEntryPointHasTheKeyOfAnother(t *testing.T) {
	rules := "package authz\n"
	for _, entry := range engine.EntryPoints() {
		rules += strings.TrimPrefix(entry, "data.authz.") + ` := {"allow": false, "reason": input.action.id}` + "\n"
	}
	keys := engine.NewKeys(must.Get(load(t, policytest.Small(t).With("authz/authz.rego", rules)))(t))
	q, owner := policytest.Question(policytest.ActiveSubject(), "project:a:b"), map[string]string{}
	for _, entry := range engine.EntryPoints() {
		entry = strings.TrimPrefix(entry, "data.authz.")
		key := keys.Of("", entry, &q)
		if key == "" || owner[key] != "" {
			t.Errorf("%s has the key %q, as %q has", entry, key, owner[key])
		}
		owner[key] = entry
	}
}

// TestManyUseTheCacheAtOnce guarantees that concurrent questions each get their own answer from a small cache, through
// reloads.
func TestManyUseTheCacheAtOnce(t *testing.T) {
	tree := policytest.Decision(t, `decision := {"allow": false, "reason": input.target.rest}`)
	e := newEngine(t, tree, engine.Options{Verdicts: 64})
	set := must.Get(load(t, tree))(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			q := policytest.Question(policytest.ActiveSubject(), "project:a:b")
			for j := range 500 {
				if i == 0 && j%50 == 0 {
					e.Bring(set.Copy())
				}
				q.Target.Rest = itoa(j % (50 + i))
				if d, err := e.Decide(t.Context(), q); err != nil || d.Reason != q.Target.Rest {
					t.Errorf("got %+v, %v, want %s", d, err, q.Target.Rest)
				}
			}
		})
	}
	wg.Wait()
}

// TestNoCacheCachesNothing guarantees that it can be switched off.
func TestNoCacheCachesNothing(t *testing.T) {
	e := newCounted(t, policytest.Small(t), -1)
	for range 3 {
		must.Get(e.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read")))(t)
	}
	if e.evaluated != 3 || e.hits != 0 {
		t.Errorf("%d evaluated, %d hits", e.evaluated, e.hits)
	}
}

package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	benchRoles   = 40
	benchActions = 400
)

// benchPermissions are 400 patterns without a star, so that every role is a large table.
func benchPermissions(role int) []string {
	out := make([]string, benchActions)
	out[0] = "project:shared:do" // the one that all of them grant
	for i := 1; i < len(out); i++ {
		out[i] = fmt.Sprintf("project:kind%02d:verb%03d", role, i)
	}
	return out
}

// benchTree is the embedded tree with 40 more system roles of 400 actions each.
func benchTree(tb testing.TB) policytest.Tree {
	tb.Helper()
	t := policytest.Copy(tb, policies.Tree())
	grants := map[string]any{}
	if err := json.Unmarshal(t["grants/data.json"].Data, &grants); err != nil {
		tb.Fatal(err)
	}
	for r := range benchRoles {
		permissions := map[string]bool{}
		for _, p := range benchPermissions(r) {
			permissions[p] = true
		}
		grants[fmt.Sprintf("bench_%02d", r)] = map[string]any{
			"name": "Bench", "scope": resources.RoleScopeProject, "description": "Bench.", "permissions": permissions,
		}
	}
	b, err := json.Marshal(grants)
	if err != nil {
		tb.Fatal(err)
	}
	return t.With("grants/data.json", string(b))
}

// benchSubject holds all forty roles in the project, as system or custom roles.
func benchSubject(custom bool) *resources.Subject {
	s := policytest.ActiveSubject()
	for r := range benchRoles {
		held := resources.HeldRole{
			RoleID: fmt.Sprintf("bench_%02d", r), RoleScope: resources.RoleScopeProject,
			RoleStatus: resources.StatusActive, Status: resources.StatusActive, ProjectID: "proj-demo-v1",
		}
		if custom {
			held.Custom, held.RoleID, held.Permissions = true, fmt.Sprintf("role-%02d-v1", r), benchPermissions(r)
		}
		s.Assignments = append(s.Assignments, held)
	}
	return s
}

// BenchmarkDecide measures a decision for a user with 40 roles of 400 actions, the
// one that grants being the last.
func BenchmarkDecide(b *testing.B) {
	e, err := engine.New(context.Background(), benchTree(b), proof.Load, engine.Options{Deadline: 10 * time.Second, Verdicts: -1})
	if err != nil {
		b.Fatal(err)
	}
	one := policytest.ActiveSubject()
	one.Assignments = benchSubject(false).Assignments[:1]
	spread := benchSubject(false)
	for i := range benchRoles - 1 { // forty roles, one of them in the project of the question
		spread.Assignments[i].ProjectID = fmt.Sprintf("proj-other%02d-v1", i)
	}
	thousand := policytest.ActiveSubject()
	for i := range 1000 {
		held := one.Assignments[0]
		held.ProjectID = fmt.Sprintf("proj-other%03d-v1", i)
		thousand.Assignments = append(thousand.Assignments, held)
	}
	thousand.Assignments[500].ProjectID = "proj-demo-v1"
	five := policytest.ActiveSubject()
	five.Assignments = benchSubject(false).Assignments[:5]
	ending := policytest.ActiveSubject() // each of two hundred grants, and has an end of its own
	for i := range 200 {
		held := one.Assignments[0]
		held.ExpiresAt = never - resources.Time(i+1)
		ending.Assignments = append(ending.Assignments, held)
	}
	cases := map[string]struct {
		subject *resources.Subject
		action  string
		want    bool
	}{
		"system":    {benchSubject(false), "project:kind39:verb399", true},
		"custom":    {benchSubject(true), "project:kind39:verb399", true},
		"deny":      {benchSubject(false), "project:kind40:verb399", false},
		"one_role":  {one, "project:kind00:verb001", true},
		"five":      {five, "project:kind04:verb399", true},
		"all":       {benchSubject(false), "project:shared:do", true},
		"all_end":   {ending, "project:shared:do", true},
		"thousand":  {thousand, "project:kind00:verb001", true},
		"deny_one":  {one, "project:kind01:verb000", false},
		"deny_five": {five, "project:kind05:verb000", false},
		"deny_none": {policytest.ActiveSubject(), "project:kind01:verb000", false},
		"spread":    {spread, "project:kind39:verb399", true},
	}
	for name := range maps.Keys(cases) {
		c := cases[name]
		b.Run(name, func(b *testing.B) {
			q := policytest.Question(c.subject, c.action)
			_, _ = e.Decide(context.Background(), q) // prepares the subject; judged below
			b.ReportAllocs()
			for b.Loop() {
				d, err := e.Decide(context.Background(), q)
				if err != nil || d.Allowed != c.want {
					b.Fatal(d, err)
				}
			}
		})
	}
}

// BenchmarkNewSubject is a service's question about a user who was not asked about before.
func BenchmarkNewSubject(b *testing.B) {
	e, err := engine.New(context.Background(), policies.Tree(), proof.Load, engine.Options{Deadline: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	ids := make([]string, 1<<14)
	for i := range ids {
		ids[i] = fmt.Sprintf("user-%d-v1", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := policytest.AdminSubject()
		s.UserID = ids[i%len(ids)]
		q := policytest.Question(s, "project:instance:read")
		q.Principal = resources.Principal{
			Kind: resources.PrincipalService, ID: "service-a", Credential: resources.CredentialToken, Scopes: []string{resources.ServiceScopeCheck},
		}
		if d, err := e.Decide(context.Background(), q); err != nil || !d.Allowed {
			b.Fatal(d, err)
		}
	}
}

// BenchmarkVerdicts compares three verdicts of the embedded tree: a cache hit, the same question without a cache, and
// a question with a new resource each time, which has an equal key.
func BenchmarkVerdicts(b *testing.B) {
	thousand := policytest.AdminSubject()
	for i := range 1000 {
		held := resources.HeldRole{RoleID: "project_reader", RoleScope: "PROJECT", RoleStatus: "ACTIVE", Status: "ACTIVE", ProjectID: fmt.Sprintf("proj-other%03d-v1", i)}
		held.ExpiresAt = resources.Time(i+1) * 1_000_000_000
		thousand.Assignments = append(thousand.Assignments, held)
	}
	for name, s := range map[string]*resources.Subject{"one": policytest.AdminSubject(), "thousand": thousand} {
		for how, verdicts := range map[string]int{"hit": 0, "none": -1, "new resource": 0} {
			e, err := engine.New(context.Background(), policies.Tree(), proof.Load, engine.Options{Deadline: 10 * time.Second, Verdicts: verdicts})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(how+"/"+name, func(b *testing.B) {
				benchVerdicts(b, e, policytest.Question(s, "project:instance:read"), how == "new resource")
			})
		}
	}
}

func benchVerdicts(b *testing.B, e *engine.Engine, q resources.Question, another bool) {
	b.ReportAllocs()
	ids := make([]string, 1<<14)
	for i := range ids {
		ids[i] = fmt.Sprintf("instances/i-%d", i)
	}
	for i := 0; b.Loop(); i++ {
		if another {
			q.Target.Resource = ids[i%len(ids)]
		}
		if d, err := e.Decide(context.Background(), q); err != nil || !d.Allowed {
			b.Fatal(d, err)
		}
	}
}

// BenchmarkVerdictsFull measures hits and memory with 100,000 verdicts cached.
func BenchmarkVerdictsFull(b *testing.B) {
	const distinct = 100_000
	var before, after runtime.MemStats
	e, err := engine.New(context.Background(), policies.Tree(), proof.Load, engine.Options{Deadline: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	s := policytest.AdminSubject()
	projects := make([]string, distinct)
	for i := range projects {
		projects[i] = fmt.Sprintf("proj-%06d-v1", i)
	}
	q := policytest.Question(s, "project:instance:read")
	ask := func(i int) {
		q.Target.ProjectID = projects[i%distinct]
		if d, err := e.Decide(context.Background(), q); err != nil || !d.Allowed {
			b.Fatal(d, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range distinct {
		ask(i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ask(i)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/distinct, "B/verdict")
}

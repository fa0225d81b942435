package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
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
func benchTree(tb testing.TB) testTree {
	tb.Helper()
	t := copyTree(tb, policies.Tree())
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
	return t.with("grants/data.json", string(b))
}

// benchSubject holds all forty roles in the project, as system or custom roles.
func benchSubject(custom bool) *resources.Subject {
	s := activeSubject()
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
	e, err := engine.New(context.Background(), benchTree(b), engine.Options{Deadline: 10 * time.Second, Memo: -1})
	if err != nil {
		b.Fatal(err)
	}
	one := activeSubject()
	one.Assignments = benchSubject(false).Assignments[:1]
	spread := benchSubject(false)
	for i := range benchRoles - 1 { // forty roles, of which one is in the project asked about
		spread.Assignments[i].ProjectID = fmt.Sprintf("proj-other%02d-v1", i)
	}
	thousand := activeSubject()
	for i := range 1000 {
		held := one.Assignments[0]
		held.ProjectID = fmt.Sprintf("proj-other%03d-v1", i)
		thousand.Assignments = append(thousand.Assignments, held)
	}
	thousand.Assignments[500].ProjectID = "proj-demo-v1"
	five := activeSubject()
	five.Assignments = benchSubject(false).Assignments[:5]
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
		"thousand":  {thousand, "project:kind00:verb001", true},
		"deny_one":  {one, "project:kind01:verb000", false},
		"deny_five": {five, "project:kind05:verb000", false},
		"deny_none": {activeSubject(), "project:kind01:verb000", false},
		"spread":    {spread, "project:kind39:verb399", true},
	}
	for name := range maps.Keys(cases) {
		c := cases[name]
		b.Run(name, func(b *testing.B) {
			q := question(c.subject, c.action)
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

// BenchmarkLoad measures how long a reload takes until the tree is in force.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := engine.Load(context.Background(), policies.Tree(), engine.LoadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

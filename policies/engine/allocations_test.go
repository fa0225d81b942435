//go:build !race

package engine_test

// The race detector allocates: there is nothing to hold to a bound under it.

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestADecisionTakesFewAllocations guarantees the bound on what a decision of the
// embedded tree takes, allowed or denied, with 40 roles of 400 actions, that it grows with the
// assignments here, whether they grant or not, and with the permissions of custom roles among them, and not with what
// is held in other projects.
func TestADecisionTakesFewAllocations(t *testing.T) {
	const most, each, permission = 490, 115, 4
	e := newEngine(t, benchTree(t), engine.Options{Verdicts: -1})
	one, five, thousand := policytest.ActiveSubject(), policytest.ActiveSubject(), policytest.ActiveSubject()
	five.Assignments = benchSubject(false).Assignments[:5]
	one.Assignments = five.Assignments[:1]
	for i := range 1000 {
		held := one.Assignments[0]
		held.ProjectID = fmt.Sprintf("proj-other%03d-v1", i)
		thousand.Assignments = append(thousand.Assignments, held)
	}
	thousand.Assignments[500].ProjectID = "proj-demo-v1"
	ending := policytest.ActiveSubject()
	for i := range 200 {
		held := one.Assignments[0]
		held.ExpiresAt = never - resources.Time(i+1)
		ending.Assignments = append(ending.Assignments, held)
	}
	custom := policytest.ActiveSubject()
	custom.Assignments = benchSubject(true).Assignments[:5]
	admin := policytest.AdminSubject()
	admin.Assignments = append(admin.Assignments, five.Assignments...)
	for name, c := range map[string]struct {
		subject *resources.Subject
		action  string
		allow   bool
	}{
		"one role":                  {one, "project:kind00:verb001", true},
		"five roles":                {five, "project:kind04:verb001", true},
		"five custom roles":         {custom, "project:kind04:verb001", true},
		"an admin":                  {admin, "project:kind77:verb001", true},
		"a thousand projects":       {thousand, "project:kind00:verb001", true},
		"forty, one grants":         {benchSubject(false), "project:kind39:verb399", true},
		"forty, all grant":          {benchSubject(false), "project:shared:do", true},
		"two hundred that end":      {ending, "project:shared:do", true},
		"forty custom, one grants":  {benchSubject(true), "project:kind39:verb399", true},
		"denied, no role":           {policytest.ActiveSubject(), "project:kind01:verb001", false},
		"denied, one role":          {one, "project:kind01:verb001", false},
		"denied, five roles":        {five, "project:kind05:verb001", false},
		"denied, thousand projects": {thousand, "project:kind01:verb001", false},
		"denied, forty roles":       {benchSubject(false), "project:kind40:verb001", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := policytest.Question(c.subject, c.action)
			if d, err := e.Decide(t.Context(), q); err != nil || d.Allowed != c.allow {
				t.Fatalf("got %+v, %v", d, err)
			}
			ctx := t.Context()
			bound := most
			for _, held := range c.subject.Assignments {
				if held.ProjectID == "" || held.ProjectID == q.Target.ProjectID {
					bound += each + permission*len(held.Permissions)
				}
			}
			got := testing.AllocsPerRun(100, func() { _, _ = e.Decide(ctx, q) })
			if t.Logf("%.0f allocations", got); got > float64(bound) {
				t.Errorf("%.0f allocations, want at most %d", got, bound)
			}
		})
	}
}

// TestCachedVerdictTakesFewAllocations guarantees the bound at every entry point, for few and many assignments: one
// for the question with its key, and one for the reason. The key of a grant holds the caller's assignments and their
// ends.
func TestCachedVerdictTakesFewAllocations(t *testing.T) {
	e := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{})
	ctx := t.Context()
	for name, s := range map[string]*resources.Subject{"an admin": policytest.AdminSubject(), "forty roles": benchSubject(true), "nobody": nil} {
		q := policytest.Question(policytest.AdminSubject(), "project:kind00:verb001")
		q.Facts.Subject = s
		q.Route = &resources.Route{Name: "role_assignment.list_of_user", Access: []string{"self", "service:authz:check"}, Effect: "read"}
		g := policytest.Grant(q, "project:kind00:verb001")
		for entry, ask := range map[string]func() (resources.Decision, error){
			"decision":  func() (resources.Decision, error) { return e.Decide(ctx, q) },
			"access":    func() (resources.Decision, error) { return e.Access(ctx, q) },
			"grantable": func() (resources.Decision, error) { return e.Inside().Grantable(ctx, g) },
		} {
			t.Run(entry+" of "+name, func(t *testing.T) {
				if _, err := ask(); err != nil {
					t.Fatal(err)
				}
				most := 2.0
				if entry == "grantable" {
					most = 8
				}
				if got := testing.AllocsPerRun(100, func() { _, _ = ask() }); got > most {
					t.Errorf("%.0f allocations, want at most %.0f", got, most)
				}
			})
		}
	}
}

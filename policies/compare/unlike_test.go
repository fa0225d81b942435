package compare_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// unlike is a change that lets somebody in at one question. A comparison once hid it.
type unlike struct {
	name, entry, route string
	trees              [2]policytest.Tree
	q                  resources.Question
}

// withRoutes returns the small tree with more rows of its catalogue.
func withRoutes(t *testing.T, more string) policytest.Tree {
	t.Helper()
	const check = `"authorization.check": {`
	return policytest.Small(t).With("routes/data.json", strings.Replace(policytest.SmallRoutes, check, more+check, 1))
}

// turned returns the trees with a rule of their own, which has the first of two texts in the old tree.
func turned(tree policytest.Tree, rule, old, next string) (out [2]policytest.Tree) {
	for side, text := range []string{old, next} {
		out[side] = tree.With("authz/own.rego", "package authz\n\n"+strings.ReplaceAll(rule, "TEXT", text)+"\n")
	}
	return out
}

// TestChangesAtUnlikeQuestionsAreTold guarantees a row for each of these changes. Plain evaluation is the witness.
func TestChangesAtUnlikeQuestionsAreTold(t *testing.T) {
	tier.Check(t)
	for _, c := range append(unlikes(t), unlikeCalls(t)...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sets [2]*engine.Set
			for side := range sets {
				sets[side] = compiled(t, c.trees[side])
				routes := sets[side].Routes()
				c.q.Route = &routes[slices.IndexFunc(routes, func(r resources.Route) bool { return r.Name == c.route })]
				if d, err := sets[side].Judge(t.Context(), "data.authz."+c.entry, c.q, time.Minute); err != nil || d.Allowed != (side == 1) {
					t.Fatalf("tree %d: %+v, %v", side, d, err)
				}
			}
			d, err := compare.Compare(t.Context(), sets[0], sets[1], 2)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(d.Rows, func(row compare.Row) bool {
				return row.Entry == c.entry && row.New.Allow && !row.Old.Allow && (row.Route == c.route || row.Action == "project:unheard-of:unheard-of")
			}) {
				t.Errorf("no row of %d, gaps %v", len(d.Rows), d.Gaps)
			}
		})
	}
}

// unlikes returns the changes at decision.
func unlikes(t *testing.T) []unlike {
	t.Helper()
	const rule = "decision := {\"allow\": true, \"reason\": \"granted\"} if {\n\tinput.principal.kind == \"user\"\n\tTEXT\n}"
	const effect, grants, both = `"effect": "read"`, "grants/data.json", `"project:*:*": true`
	small, q := policytest.Small(t), policytest.Question(policytest.ActiveSubject(), "project:chair:read")
	rows := turned(small, rule, "input.route.effect == \"write\"", "input.route.effect == \"write\"")
	rows[1] = rows[1].With("routes/data.json", strings.Replace(policytest.SmallRoutes, effect, `"effect": "write"`, 1))
	granted := "data.grants.account_admin.permissions[\"project:desk:open\"]"
	roles := turned(small, rule, granted, granted)
	roles[1] = roles[1].With(grants, strings.Replace(policytest.SmallGrants, both, both+`, "project:desk:open": true`, 1))
	return []unlike{
		{"the row of authorization.check", "decision", "authorization.check", rows, q},
		{"a permission of a role that a rule names", "decision", "authorization.check", roles, q},
	}
}

// unlikeCalls returns the changes at access.
func unlikeCalls(t *testing.T) []unlike {
	t.Helper()
	const member = "access := {\"allow\": true, \"reason\": \"member\"} if {\n\tinput.route.access.member\n" +
		"\tinput.principal.kind == \"user\"\n\tinput.target.project_state == \"TEXT\"\n}"
	moved := func(rows string) [2]policytest.Tree { return turned(withRoutes(t, rows), member, "active", "deleting") }
	placed := moved(`"job": {"method": "GET", "host": "jobs.example", "path": "/v2/{tenant}/tasks/{task}/jobs", "place": {"account": "{tenant}", ` +
		`"project": "{task}"}, "access": ["member"], "effect": "read", "upstream": "external"}, `)
	named := moved(`"aaa": {"method": "GET", "path": "/api/v1/things/{id}", "access": ["member"], "effect": "read", "upstream": "external"}, ` +
		`"job": {"method": "GET", "path": "/api/v1/accounts/{a}/projects/{p}/jobs", "access": ["member"], "effect": "read", "upstream": "external"}, `)
	free := moved(`"job": {"method": "GET", "path": "/{a}/{b}/{c}/{d}/jobs", "access": ["member"], "effect": "read", "upstream": "external"}, `)
	q := policytest.Question(policytest.ActiveSubject(), "")
	q.Target = resources.Target{AccountID: q.AccountID, ProjectID: "proj-demo-v1", Rest: "jobs"}
	q.Facts.ProjectState = resources.ProjectDeleting
	public := turned(withRoutes(t, `"hello": {"method": "GET", "path": "/api/v1/accounts/{accountId}/hello", "access": ["public"], "effect": "read", "upstream": "external"}, `),
		"access := {\"allow\": true, \"reason\": \"open\"} if {\n\tinput.route.access.public\n\tinput.account.id != \"TEXT\"\n}", "acct-evil-v1", "acct-other-v1")
	call := resources.Question{
		Principal: resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone},
		AccountID: "acct-evil-v1", Target: resources.Target{AccountID: "acct-evil-v1", Rest: "hello"}, Now: q.Now,
	}
	return []unlike{
		{"a row that states its place", "access", "job", placed, q},
		{"two rows with parameters of other names", "access", "job", named, q},
		{"a path of parameters", "access", "job", free, q},
		{"a public call that names an account", "access", "hello", public, call},
	}
}

package policytest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

// Tree is a policy tree in memory. With and Without return changed copies.
type Tree fstest.MapFS

// Open implements fs.FS.
func (t Tree) Open(name string) (fs.File, error) { return fstest.MapFS(t).Open(name) }

// With returns the tree with a file of this content.
func (t Tree) With(name, content string) Tree {
	out := maps.Clone(t)
	out[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	return out
}

// Without returns the tree without the file.
func (t Tree) Without(name string) Tree {
	out := maps.Clone(t)
	delete(out, name)
	return out
}

// Write writes the tree to a folder.
func (t Tree) Write(tb testing.TB, dir string) {
	tb.Helper()
	for name, file := range t {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// Copy returns a tree in memory with the files of another one.
func Copy(tb testing.TB, tree fs.FS) Tree {
	tb.Helper()
	out := Tree{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(tree, name)
		out[name] = &fstest.MapFile{Data: b, Mode: 0o644}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// The files of Small.
const (
	SmallAuthz = `# METADATA
# scope: package
# schemas:
#   - input: schema.input.schema
#   - data.grants: schema.grants.schema
package authz

# METADATA
# entrypoint: true
default decision := {"allow": false, "reason": "no"}

decision := {"allow": true, "reason": "granted"} if {
	input.subject.status == "ACTIVE"
	some item in input.subject.here
	item.level == "ACCOUNT"
	some pattern in input.action.patterns
	data.grants[item.role].permissions[pattern]
}

default access := {"allow": false, "reason": "no"}

access := decision if input.action.id != ""

default grantable := {"allow": false, "reason": "no"}
`
	SmallTest = `package authz_test

import data.authz

test_nobody_is_denied if not authz.decision.allow with input as {}
`
	SmallGrants = `{
  "account_admin": {
    "name": "Admin", "scope": "ACCOUNT", "description": "All.",
    "permissions": {"account:*:*": true, "project:*:*": true}
  }
}
`
	SmallRoutes = `{
  "authorization.check": {
    "method": "POST", "path": "/api/v1/authorize/{proxy+}", "action": "account:authorization:check",
    "access": ["asks_self", "service:authz:check"], "effect": "read", "area": "access", "upstream": "access"
  }
}
`
)

// Small returns the smallest tree that proof.Load accepts: the schemas of the embedded tree, one role, one route, and a
// denying default for each entry point.
func Small(tb testing.TB) Tree {
	tb.Helper()
	embedded := Copy(tb, policies.Tree())
	t := Tree{}
	for _, name := range []string{"schemas/input/schema.json", "schemas/grants/schema.json", "schemas/routes/schema.json"} {
		t[name] = embedded[name]
	}
	return t.With("authz/authz.rego", SmallAuthz).With("authz/authz_test.rego", SmallTest).
		With("grants/data.json", SmallGrants).With("routes/data.json", SmallRoutes)
}

// ActiveSubject returns an active member without any role.
func ActiveSubject() *resources.Subject {
	return &resources.Subject{
		AccountID: "acct-demo-v1", AccountExists: true, AccountStatus: resources.StatusActive,
		UserID: "user-bob-v1", UserUUID: "b0b", UserExists: true, UserStatus: resources.StatusActive, Member: true,
	}
}

// AdminSubject returns an active member who holds account_admin.
func AdminSubject() *resources.Subject {
	s := ActiveSubject()
	s.Assignments = []resources.HeldRole{{
		RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount,
		RoleStatus: resources.StatusActive, Status: resources.StatusActive,
	}}
	return s
}

// Question asks whether the subject may do the action: at a resource of proj-demo-v1, or at the account if that is the
// scope of the action.
func Question(s *resources.Subject, action string) resources.Question {
	a, _ := resources.ParseAction(action)
	q := resources.Question{
		Principal: resources.Principal{
			Kind: resources.PrincipalUser, ID: s.UserID, UUID: s.UserUUID, AccountID: s.AccountID, Credential: resources.CredentialToken,
		},
		Action: a, AccountID: s.AccountID, Route: &resources.Route{}, Now: 1_767_225_600_000,
		Facts: resources.Facts{Revision: 1, Subject: s},
	}
	if a.Scope != resources.ScopeAccount {
		q.Facts.ProjectState = resources.ProjectActive
		q.Target = resources.Target{AccountID: s.AccountID, ProjectID: "proj-demo-v1", Resource: "instances/i-1", Rest: "instances/i-1/disks"}
	}
	return q
}

// Grant asks whether the caller of a question may grant the permissions at account level.
func Grant(q resources.Question, permissions ...string) resources.Question {
	return resources.Question{
		Principal: q.Principal, AccountID: q.AccountID, Facts: q.Facts, Grant: &resources.Grant{Permissions: permissions}, Now: q.Now,
	}
}

// Endless is a Rego expression that takes longer than any deadline, and allocates little.
const Endless = `count([1 | r := numbers.range(1, 1000); some a in r; some b in r; some c in r; a + b + c < 0]) == 0`

// Decision returns the small tree with the rules for authz.decision given. The tree denies the callers of the probes in
// package proof by itself: rules of a test may allow everybody.
func Decision(tb testing.TB, rules string) Tree {
	tb.Helper()
	head, tail, _ := strings.Cut(SmallAuthz, "# METADATA\n# entrypoint: true")
	_, tail, _ = strings.Cut(tail, "default access")
	rules = strings.ReplaceAll(rules, "decision :=", "verdict :=") + "\n\n" +
		"decision := verdict if input.account.id != \"acct-probe-v0\"\n\n" +
		"else := {\"allow\": false, \"reason\": \"probed\"} if input.account.id == \"acct-probe-v0\""
	return Small(tb).With("authz/authz.rego", head+rules+"\n\ndefault access"+tail).
		With("authz/authz_test.rego", "package authz_test\n\ntest_nothing if true")
}

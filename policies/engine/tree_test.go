package engine_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

// testTree is a policy tree in memory; its methods give changed copies.
type testTree fstest.MapFS

// Open implements fs.FS.
func (t testTree) Open(name string) (fs.File, error) { return fstest.MapFS(t).Open(name) }

func (t testTree) with(name, content string) testTree {
	out := maps.Clone(t)
	out[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	return out
}

func (t testTree) without(name string) testTree {
	out := maps.Clone(t)
	delete(out, name)
	return out
}

// write puts the tree into a folder.
func (t testTree) write(tb testing.TB, dir string) {
	tb.Helper()
	for name, file := range t {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(at, file.Data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

func copyTree(tb testing.TB, from fs.FS) testTree {
	tb.Helper()
	out := testTree{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(from, name)
		out[name] = &fstest.MapFile{Data: b, Mode: 0o644}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

const (
	smallAuthz = `# METADATA
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
	some item in input.subject.assignments[""][""]
	some pattern in input.action.patterns
	data.grants[item.role].permissions[pattern]
}

default access := {"allow": false, "reason": "no"}

access := decision if input.action.id != ""

default grantable := {"allow": false, "reason": "no"}
`
	smallTest = `package authz_test

import data.authz

test_nobody_is_denied if not authz.decision.allow with input as {}
`
	smallGrants = `{
  "account_admin": {
    "name": "Admin", "scope": "ACCOUNT", "description": "All.",
    "permissions": {"account:*:*": true, "project:*:*": true}
  }
}
`
	smallRoutes = `{
  "authorization.check": {
    "method": "POST", "path": "/api/v1/authorize/{proxy+}", "action": "account:authorization:check",
    "access": ["asks_self", "service:authz:check"], "effect": "read", "area": "access", "upstream": "access"
  }
}
`
)

// smallTree is the least that is taken: the real schemas, one rule an entry point.
func smallTree(tb testing.TB) testTree {
	tb.Helper()
	embedded := copyTree(tb, policies.Tree())
	t := testTree{}
	for _, name := range []string{"schemas/input/schema.json", "schemas/grants/schema.json", "schemas/routes/schema.json"} {
		t[name] = embedded[name]
	}
	return t.with("authz/authz.rego", smallAuthz).with("authz/authz_test.rego", smallTest).
		with("grants/data.json", smallGrants).with("routes/data.json", smallRoutes)
}

// activeSubject is an active member without any role.
func activeSubject() *resources.Subject {
	return &resources.Subject{
		AccountID: "acct-demo-v1", AccountExists: true, AccountStatus: resources.StatusActive,
		UserID: "user-bob-v1", UserUUID: "b0b", UserExists: true, UserStatus: resources.StatusActive, Member: true,
	}
}

// adminSubject holds account_admin.
func adminSubject() *resources.Subject {
	s := activeSubject()
	s.Assignments = []resources.HeldRole{{
		RoleID: resources.RoleAccountAdmin, RoleScope: resources.RoleScopeAccount,
		RoleStatus: resources.StatusActive, Status: resources.StatusActive,
	}}
	return s
}

// question asks whether the subject may do the action in proj-demo-v1.
func question(s *resources.Subject, action string) resources.Question {
	a, _ := resources.ParseAction(action)
	q := resources.Question{
		Principal: resources.Principal{
			Kind: resources.PrincipalUser, ID: s.UserID, UUID: s.UserUUID, AccountID: s.AccountID, Credential: resources.CredentialToken,
		},
		Action: a, AccountID: s.AccountID, Now: 1_767_225_600_000,
		Facts: resources.Facts{Revision: 1, Subject: s},
	}
	if a.Scope != resources.ScopeAccount {
		q.Facts.ProjectState = resources.ProjectActive
		q.Target = resources.Target{AccountID: s.AccountID, ProjectID: "proj-demo-v1", Resource: "instances/i-1", Rest: "instances/i-1/disks"}
	}
	return q
}

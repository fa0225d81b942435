package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// The rules of a small tree: holders of a role may do what it grants, anywhere.
const smallRules = `# METADATA
# scope: package
# schemas:
#   - input: schema.input.schema
#   - data.grants: schema.grants.schema
package authz

default decision := {"allow": false, "reason": "no"}

decision := {"allow": true, "reason": "granted"} if {
	input.subject.status == "ACTIVE"
	some item in input.subject.here
	item.running
	some pattern in input.action.patterns
	data.grants[item.role].permissions[pattern]
}

default access := {"allow": false, "reason": "no"}

default grantable := {"allow": false, "reason": "no"}
`

const smallRoutes = `{
  "authorization.check": {
    "method": "POST", "path": "/api/v1/authorize/{proxy+}", "action": "account:authorization:check",
    "access": ["service:authz:check"], "effect": "read", "area": "access", "upstream": "authorize"
  }
}
`

// smallTree writes a tree with a role of that id and these patterns.
func smallTree(t *testing.T, patterns ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	source := harness.CopyPolicies(t)
	for _, schema := range []string{"input", "grants", "routes"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, "schemas", schema), os.DirFS(filepath.Join(source, "schemas", schema))))
	}
	permissions := map[string]bool{}
	for _, pattern := range append(patterns, "account:*:*") {
		permissions[pattern] = true
	}
	grants := must.Get(json.Marshal(map[string]any{
		"account_admin":  map[string]any{"name": "Admin", "scope": "ACCOUNT", "description": "All.", "permissions": map[string]bool{"account:*:*": true}},
		"account_reader": map[string]any{"name": "Reader", "scope": "ACCOUNT", "description": "Some.", "permissions": permissions},
	}))(t)
	for name, content := range map[string]string{
		"authz/authz.rego": smallRules, "routes/data.json": smallRoutes, "grants/data.json": string(grants),
		"authz/authz_test.rego": "package authz_test\n\nimport data.authz\n\ntest_nobody if not authz.decision.allow with input as {}\n",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750))
		harness.WriteFile(t, filepath.Join(dir, name), content)
	}
	return dir
}

// diffed is the report of `policy diff --json`.
type diffed struct {
	Old, New                     string
	NewAccess                    []diffRow `json:"new_access"`
	LostAccess                   []diffRow `json:"lost_access"`
	Reasons, Routes, Unreachable []any
	NotExhaustive                []any `json:"not_exhaustive"`
	Questions                    int
	People                       *diffedPeople
}

type diffRow struct {
	Entry, Action, Role, Place string
	Old, New                   struct{ Allow bool }
}

func diffTrees(t *testing.T, args ...string) (harness.Outcome, diffed) {
	t.Helper()
	o := harness.Command(t, nil, append([]string{"policy", "diff", "--json"}, args...)...)
	var d diffed
	if err := json.Unmarshal([]byte(o.Stdout), &d); err != nil {
		t.Fatalf("%v: %v: %+v", args, err, o)
	}
	return o, d
}

// TestPolicyDiffSaysWhatChanges guarantees exit 0 without a difference and 1 with some, and new access apart from lost
// access.
func TestPolicyDiffSaysWhatChanges(t *testing.T) {
	t.Parallel()
	less, more := smallTree(t), smallTree(t, "project:widget:paint")
	for name, c := range map[string]struct {
		args         []string
		code         int
		gains, loses bool
	}{
		"more":                     {[]string{less, more}, 1, true, false},
		"less":                     {[]string{more, less}, 1, false, true},
		"more, fail on new access": {[]string{less, more, "--fail-on", "new-access"}, 1, true, false},
		"less, fail on new access": {[]string{more, less, "--fail-on", "new-access"}, 0, false, true},
		"the same":                 {[]string{more, more}, 0, false, false},
		"the embedded tree":        {[]string{"embedded", "embedded"}, 0, false, false},
	} {
		o, d := diffTrees(t, c.args...)
		if o.Code != c.code || len(d.NewAccess) > 0 != c.gains || len(d.LostAccess) > 0 != c.loses || len(d.NotExhaustive) > 0 || d.People != nil {
			t.Errorf("%s: %+v", name, o)
		}
		for _, row := range append(d.NewAccess, d.LostAccess...) {
			if row.Role != "account_reader" || row.Action != "project:widget:paint" || row.Entry != "decision" || row.Old.Allow == row.New.Allow {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
}

// TestPolicyAskTellsBothAnswers: exit 0 the same, 1 another one, 2 a file or a tree that can't be read.
func TestPolicyAskTellsBothAnswers(t *testing.T) {
	t.Parallel()
	less, more := smallTree(t), smallTree(t, "project:widget:paint")
	facts := filepath.Join(t.TempDir(), "question.json")
	harness.WriteFile(t, facts, `{
  "action": {"id": "project:widget:paint"}, "account": {"id": "acct-a-v1", "exists": true, "status": "ACTIVE"}, "now": 1000,
  "principal": {"kind": "user", "id": "user-a-v1", "credential": "token"},
  "subject": {"id": "user-a-v1", "exists": true, "status": "ACTIVE", "member": true, "assignments": {"": {"": [
    {"role": "account_reader", "role_scope": "ACCOUNT", "role_status": "ACTIVE", "status": "ACTIVE"}
  ]}}}
}`)
	for name, c := range map[string]struct {
		old, newID string
		code       int
		want       string
	}{
		"more":     {less, more, 1, less + ": denied: no\n" + more + ": allowed: granted\n"},
		"the same": {more, more, 0, more + ": allowed: granted\n" + more + ": allowed: granted\n"},
		"no tree":  {more, filepath.Join(more, "absent"), 2, ""},
	} {
		if o := harness.Command(t, nil, "policy", "ask", c.old, c.newID, "--facts", facts); o.Code != c.code || o.Stdout != c.want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for name, args := range map[string][]string{"no file": {"--facts", facts + ".absent"}, "no question": {}, "no document": {"--facts", filepath.Join(more, "authz", "authz.rego")}} {
		if o := harness.Command(t, nil, append([]string{"policy", "ask", less, more}, args...)...); o.Code != 2 || !strings.Contains(o.Stderr, "facts") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if o := harness.Command(t, nil, "policy", "diff", less, more, "--within", "1ns"); o.Code != 2 || !strings.Contains(o.Stderr, "--within") {
		t.Errorf("--within: %+v", o)
	}
}

// TestPolicyDiffIsRendered for a terminal and for a pull request, with what a reload would refuse as warnings beside.
func TestPolicyDiffIsRendered(t *testing.T) {
	t.Parallel()
	less, more := smallTree(t), smallTree(t, "project:widget:paint")
	harness.WriteFile(t, filepath.Join(more, "authz", "slip_test.rego"), "package authz_test\n\ntest_slip if false\n")
	text := harness.Command(t, nil, "policy", "diff", less, more)
	if text.Code != 1 || !strings.Contains(text.Stdout, "\nNew access (") || !strings.Contains(text.Stdout, "holding account_reader, at account") ||
		!strings.HasPrefix(text.Stderr, "warning: "+more+": a reload refuses it: ") {
		t.Errorf("%+v", text)
	}
	marked := harness.Command(t, nil, "policy", "diff", "--markdown", less, more)
	if marked.Code != 1 || !strings.HasPrefix(marked.Stdout, "### Policy `") || !strings.Contains(marked.Stdout, "<details><summary>New access: ") {
		t.Errorf("%+v", marked)
	}
	if o := harness.Command(t, nil, "policy", "diff", "--markdown", less, less); o.Code != 0 || !strings.Contains(o.Stdout, "No difference.\n") {
		t.Errorf("%+v", o)
	}
	if o := harness.Command(t, nil, "policy", "diff", less, less); o.Code != 0 || !strings.HasSuffix(o.Stdout, "no difference\n") {
		t.Errorf("%+v", o)
	}
}

// TestPolicyDiffTakesBundlesAndTheTreeInForce as it takes folders.
func TestPolicyDiffTakesBundlesAndTheTreeInForce(t *testing.T) {
	t.Parallel()
	dir := smallTree(t)
	bundle := filepath.Join(t.TempDir(), "policies.tar.gz")
	must.Do(t, os.WriteFile(bundle, harness.Bundle(t, dir, "v7"), 0o600))
	if o, d := diffTrees(t, dir, bundle); o.Code != 0 || d.Old == d.New {
		t.Errorf("%+v", o)
	}
	if o, d := diffTrees(t, smallTree(t, "project:widget:paint"), bundle); o.Code != 1 || len(d.LostAccess) == 0 {
		t.Errorf("%+v", o)
	}
	s := harness.NewTeam(t)
	o, d := diffTrees(t, "live", "embedded", "--url", s.HealthURL)
	if o.Code != 0 || d.Old != d.New || d.People == nil || d.People.Users != 0 || len(d.People.NotLookedAt) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestPolicyDiffRefuses in one line what can't be compared, and all of it at once. The problems of trees stand before it,
// one a line.
func TestPolicyDiffRefuses(t *testing.T) {
	t.Parallel()
	good, broken, worse := smallTree(t), smallTree(t), smallTree(t)
	harness.WriteFile(t, filepath.Join(broken, "authz", "slip.rego"), "package authz\n\ndeny contains \"x\" if input.acton.id == \"\"\n")
	harness.WriteFile(t, filepath.Join(worse, "authz", "slip.rego"), "package authz\n\ndeny contains \"x\" if {\n")
	diff := func(args ...string) harness.Outcome {
		return harness.Command(t, nil, append([]string{"policy", "diff"}, args...)...)
	}
	harness.WantOneLine(t, diff(good), "the policy trees OLD and NEW; it was given 1")
	harness.WantOneLine(t, diff(good, good, good), "it was given 3")
	harness.WantOneLine(t, diff(good, good, "--json", "--markdown"), "json", "markdown")
	harness.WantOneLine(t, diff(good, good, "--fail-on", "less"), "--fail-on must be new-access or any", `"less"`)
	harness.WantOneLine(t, diff(good, filepath.Join(good, "none")), "none")
	harness.WantOneLine(t, diff(filepath.Join(good, "one"), filepath.Join(good, "two")), "one", "two")
	harness.WantOneLine(t, diff("live", good, "--url", "http://127.0.0.1:1"), "--url")
	harness.WantOneLine(t, diff(good, good, "--fail-on", "less", "--names", "-1", "--data-dir", t.TempDir(), "--token", "x"),
		"--fail-on", "--names", "--data-dir: there is no store", "--token")
	harness.WantOneLine(t, diff(good, good, "--token", "x"), "--url, which is missing")
	o := diff(broken, worse)
	for _, want := range []string{
		broken + ": authz/slip.rego:3: ", worse + ": authz/slip.rego:", "portcullis: " + broken + " does not compile; " + worse + " does not compile\n",
	} {
		if o.Code != 2 || o.Stdout != "" || !strings.Contains(o.Stderr, want) {
			t.Errorf("does not say %q: %+v", want, o)
		}
	}
}

// TestTheLiveTreeMayBeABundle guarantees that a gateway's tree is compared although a bundle's revision is in its name.
func TestTheLiveTreeMayBeABundle(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policies.tar.gz")
	must.Do(t, os.WriteFile(file, harness.Bundle(t, harness.CopyPolicies(t), "v7"), 0o600))
	g := harness.Launch(t, t.TempDir(), "--policy-bundle", file)
	wantExit(t, harness.Command(t, nil, "policy", "diff", "--url", g.HealthURL, "live", "embedded"), 0, "no difference")
}

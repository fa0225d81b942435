package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

const nightRule = `package authz

deny contains "no deletions at night" if {
	input.action.id == "account:project:delete"
	input.now % 86400000 < 3600000
}
`

// TestPolicyInitWhole writes a copy of the whole tree that passes the gate.
func TestPolicyInitWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "own")
	made := harness.Command(t, nil, "policy", "init", "--whole", dir)
	checked := harness.Command(t, nil, "policy", "check", dir)
	_, revision, _ := strings.Cut(made.Stdout, ": policy ")
	revision, _, _ = strings.Cut(revision, "\n")
	embedded := harness.Command(t, nil, "version")
	if made.Code != 0 || checked.Code != 0 || !strings.HasPrefix(checked.Stdout, "ok: policy "+revision+"; ") || !strings.Contains(embedded.Stdout, revision+"\n") ||
		strings.Contains(checked.Stdout, "not cached") {
		t.Errorf("%+v, then %+v", made, checked)
	}
}

// TestPolicyCheckNamesWhatIsNotCached, and what it costs.
func TestPolicyCheckNamesWhatIsNotCached(t *testing.T) {
	t.Parallel()
	dir := harness.CopyWholePolicies(t)
	harness.WriteFile(t, filepath.Join(dir, "authz", "night.rego"), nightRule)
	o := harness.Command(t, nil, "policy", "check", dir)
	if o.Code != 0 || strings.Count(o.Stdout, "not cached: ") != 1 ||
		!strings.Contains(o.Stdout, "not cached: no verdict of decision, access, grantable: authz/night.rego:3: reads input.now\n") ||
		!regexp.MustCompile(`each such question is evaluated: [0-9.]+(µs|ms) here`).MatchString(o.Stdout) {
		t.Errorf("%+v", o)
	}
}

// TestPolicyCheckReadsRowsAsTheGatewayDoes: a path that a gateway would refuse at a reload is named here.
func TestPolicyCheckReadsRowsAsTheGatewayDoes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/v1/{rest+}/more":                    "{rest+} must be the last segment",
		"/api/v1/accounts/{accountId:moon}/moons": "there are no ids of the form moon-<id>-v1",
		"/api/v1/accounts/acct-demo-v1/report":    "names the account acct-demo-v1; a parameter must stand there",
		"/moons/accounts/{accountId}":             "ambiguous",
		"/café/{id}":                              "must be percent-encoded",
	} {
		dir := harness.CopyWholePolicies(t)
		file := filepath.Join(dir, "routes", "data.json")
		routes := must.Get(os.ReadFile(file))(t)
		row := `{ "role.ours": {"method": "GET", "path": "` + path + `", "access": ["member"], "effect": "read", "upstream": "external"},`
		harness.WriteFile(t, file, strings.Replace(string(routes), "{", row, 1))
		if o := harness.Command(t, nil, "policy", "check", dir); o.Code != 2 || !strings.Contains(o.Stderr, "role.ours") || !strings.Contains(o.Stderr, want) {
			t.Errorf("%s: %+v", path, o)
		}
	}
}

// TestPolicyTestShowsTheValues guarantees that it shows the values of a failed test and the rules without a test, and
// runs the named tests.
func TestPolicyTestShowsTheValues(t *testing.T) {
	t.Parallel()
	dir := harness.CopyWholePolicies(t)
	harness.WriteFile(t, filepath.Join(dir, "authz", "night.rego"), nightRule)
	o := harness.Command(t, nil, "policy", "test", "--threshold", "100", "--run", "test_account_action", dir)
	if o.Code != 2 || !strings.Contains(o.Stderr, "cover too little") || !strings.HasPrefix(o.Stdout, "PASS: ") ||
		!regexp.MustCompile(`authz/night.rego: not covered: 3, 4, 5\n(.*\n)*COVERAGE: [0-9.]+ %\n`).MatchString(o.Stdout) {
		t.Errorf("%+v", o)
	}
	harness.WriteFile(t, filepath.Join(dir, "authz", "night_test.rego"), `package authz_test

import data.authz

test_night if {
	answer := authz.decision with input as question("account:project:delete", {"now": 7200000})
	answer.code == "deny_rule"
}
`)
	if o := harness.Command(t, nil, "policy", "test", "--run", "test_night|test_account_action", dir); o.Code != 2 || !strings.Contains(o.Stdout, "authz/night_test.rego:7:") ||
		!strings.Contains(o.Stdout, `answer.code: "no_role"`) || !strings.Contains(o.Stdout, "FAIL: 1/") {
		t.Errorf("%+v", o)
	}
	if o := harness.Command(t, nil, "policy", "test", "--run", "test_account_action", "-v", dir); o.Code != 0 || !strings.Contains(o.Stdout, ": PASS (") {
		t.Errorf("%+v", o)
	}
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "test", "--run", "(", dir), "regular expression")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "test", "--run", "test_of_nothing", dir), "no such tests")
	for _, percent := range []string{"101", "-1", "NaN"} { // no coverage is less than NaN
		harness.WantOneLine(t, harness.Command(t, nil, "policy", "test", "--threshold", percent, dir), "--threshold")
	}
}

// TestPolicyToolsTakeBundles as they take folders.
func TestPolicyToolsTakeBundles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policies.tar.gz")
	must.Do(t, os.WriteFile(file, harness.Bundle(t, harness.CopyWholePolicies(t), "v7"), 0o600))
	if o := harness.Command(t, nil, "policy", "check", file); o.Code != 0 || !strings.Contains(o.Stdout, "\nbundle revision: v7\n") {
		t.Errorf("%+v", o)
	}
	if o := harness.Command(t, nil, "policy", "test", "--run", "test_account_action", file); o.Code != 0 {
		t.Errorf("%+v", o)
	}
	harness.WriteFile(t, file, "no bundle")
	harness.WantOneLine(t, harness.Command(t, nil, "policy", "check", file), "is not a bundle")
	harness.WantOneLine(t, harness.Command(t, nil, "serve", "--policy-bundle", file, "--data-dir", t.TempDir()), "is not a bundle")
	harness.WantOneLine(t, harness.Command(t, nil, "serve", "--policy-bundle", "http://policies.example/b", "--data-dir", t.TempDir()), "must be https")
	harness.WantOneLine(t, harness.Command(t, nil, "serve", "--policy-bundle", file, "--policy-dir", ".", "--data-dir", t.TempDir()), "in the place of --policy-dir")
}

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/format"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// replayed is what a replay reports as JSON.
type replayed struct {
	New       string
	Judged    int
	NotJudged map[string]int `json:"not_judged"`
	Failed    map[string]int
	Reasons   int
	Flips     []struct {
		Allow                            bool
		Path, Route, Action, Place, Role string
		Count                            int
		Examples                         []struct {
			ID string `json:"decision_id"`
		}
	}
}

// TestRecordedDecisionsAreJudgedAnew runs beside a gateway with three trees: the deciding one, one with an allow and a
// denial more, and a failing one. Differences are written as tests, and the old tree passes them.
func TestRecordedDecisionsAreJudgedAnew(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--decision-log", "required")
	s.Grant(t, "project_reader", s.Bob, s.Project)
	denied := s.Ask(t, s.Bob, "project:instance:delete", "/projects/"+s.Project+"/instances/i-1").Header.Get("X-Decision-ID")
	allowed := s.Ask(t, s.Admin, "project:instance:delete", "/projects/"+s.Project+"/instances/i-1").Header.Get("X-Decision-ID")
	s.Ask(t, "user-nobody-v1", "project:instance:read", "/projects/"+s.Project)
	decisions := filepath.Join(s.DataDir, "decisions")
	replay := func(args ...string) harness.Outcome {
		return harness.Command(t, nil, append([]string{"policy", "replay", "--decisions", decisions}, args...)...)
	}
	asJSON := func(want int, tree string) (r replayed) {
		t.Helper()
		o := replay("--json", tree)
		if err := json.Unmarshal([]byte(o.Stdout), &r); err != nil || o.Code != want {
			t.Errorf("%s: %d, want %d, %v\n%s%s", tree, o.Code, want, err, o.Stdout, o.Stderr)
		}
		return r
	}
	all := asJSON(0, "embedded")
	if all.Judged < 6 || len(all.NotJudged)+len(all.Failed)+len(all.Flips)+all.Reasons > 0 {
		t.Errorf("%+v", all)
	}
	if o := replay("embedded"); o.Code != 0 || !strings.Contains(o.Stdout, " judged, 0 groups of other verdicts") {
		t.Errorf("%+v", o)
	}

	changed := changedPolicies(t)
	r := asJSON(1, changed)
	if r.Judged != all.Judged || len(r.Flips) != 2 || r.New == all.New {
		t.Fatalf("%+v", r)
	}
	for _, f := range r.Flips {
		id, role := denied, "project_reader"
		if !f.Allow {
			id, role = allowed, "account_admin"
		}
		if f.Path != "authz/decision" || f.Action != "project:instance:delete" || f.Place != "instances" || f.Role != role || f.Count != 1 || len(f.Examples) != 1 || f.Examples[0].ID != id {
			t.Errorf("%+v, want %s", f, id)
		}
	}

	tests := filepath.Join(t.TempDir(), "tests")
	if o := replay("--emit-tests", tests, changed); o.Code != 1 || strings.Count(o.Stdout, "1 would be ") != 2 || !strings.Contains(o.Stdout, denied) {
		t.Errorf("%+v", o)
	}
	file := must.Get(os.ReadFile(filepath.Join(tests, "replayed_test.rego")))(t)
	if again, err := format.Source("replayed_test.rego", file); err != nil || !bytes.Equal(again, file) {
		t.Errorf("opa fmt would change\n%s\nto\n%s, %v", file, again, err)
	}
	wantTested(t, changed, string(file), 2, "FAIL: 2/2")
	wantTested(t, harness.CopyPolicies(t), string(file), 0, "PASS: 2/2")

	failing := harness.CopyPolicies(t)
	harness.WriteFile(t, filepath.Join(failing, "authz", "fails.rego"), "package authz\n\ndeny contains \"x\" if to_number(input.action.verb) > 1\n")
	if r := asJSON(1, failing); len(r.Failed) != 1 || len(r.Flips) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestALogThatIsNotWholeIsNotBelieved: a replay says what verify says, and judges what can be read with --partial alone.
func TestALogThatIsNotWholeIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t, "--decision-log", "required")
	denied := s.Ask(t, s.Bob, "project:instance:delete", "/projects/"+s.Project+"/instances/i-1").Header.Get("X-Decision-ID")
	s.Ask(t, s.Admin, "project:instance:delete", "/projects/"+s.Project+"/instances/i-1")
	s.Terminate(t)
	s.Ended(t)
	file := filepath.Join(s.DataDir, "decisions", "01", "000000000001.log")
	text := must.Get(os.ReadFile(file))(t)
	lines := strings.SplitAfter(string(text), "\n")
	index := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, denied) })
	replay := func(args ...string) harness.Outcome {
		return harness.Command(t, nil, append([]string{"policy", "replay", "--decisions", filepath.Join(s.DataDir, "decisions"), "embedded"}, args...)...)
	}
	if o := replay(); o.Code != 0 || o.Stderr != "" {
		t.Fatalf("%+v", o)
	}
	for name, changed := range map[string][]string{
		"a line that can't be read": slices.Concat(lines[:index], []string{strings.Replace(lines[index], `"told":{`, `"told":{{`, 1)}, lines[index+1:]),
		"a line is gone":            slices.Concat(lines[:index], lines[index+1:]),
		"the end is gone":           lines[:index+1],
		"another verdict":           slices.Concat(lines[:index], []string{strings.Replace(lines[index], `"path":`, `"allow":true,"path":`, 1)}, lines[index+1:]),
	} {
		harness.WriteFile(t, file, strings.Join(changed, ""))
		o := replay()
		if o.Code != 2 || o.Stdout != "" || !strings.Contains(o.Stderr, "NOT WHOLE: ") || !strings.Contains(o.Stderr, "--partial") {
			// On a database the end is not asked for.
			if name != "the end is gone" || !harness.OnMongoDB() {
				t.Errorf("%s: %+v", name, o)
			}
		}
		want := 3
		if name == "another verdict" {
			want = 1
		}
		var r replayed
		if o = replay("--partial", "--json"); o.Code != want && !harness.OnMongoDB() || json.Unmarshal([]byte(o.Stdout), &r) != nil || r.Judged == 0 {
			t.Errorf("%s, --partial: %+v", name, o)
		}
	}
}

// changedPolicies lets readers of projects delete, and keeps admins from it.
func changedPolicies(t *testing.T) string {
	t.Helper()
	changed := harness.CopyPolicies(t)
	grants := filepath.Join(changed, "grants", "data.json")
	text := must.Get(os.ReadFile(grants))(t)
	head, tail, _ := strings.Cut(string(text), `"project_reader": {`)
	harness.WriteFile(t, grants, head+`"project_reader": {`+strings.Replace(tail, `"permissions": {`, `"permissions": {"project:instance:delete": true, `, 1))
	harness.WriteFile(t, filepath.Join(changed, "authz", "admins.rego"), `package authz

deny contains "no admin deletes" if {
	input.action.verb == "delete"
	some held in input.subject.here
	held.role == "account_admin"
}
`)
	return changed
}

// wantTested runs the tests of the file with a tree.
func wantTested(t *testing.T, tree, file string, code int, says string) {
	t.Helper()
	harness.WriteFile(t, filepath.Join(tree, "authz", "replayed_test.rego"), file)
	o := harness.Command(t, nil, "policy", "test", "--run", "replayed_test", tree)
	if o.Code != code || !strings.Contains(o.Stdout, says) {
		t.Errorf("%d, want %d: %s%s", o.Code, code, o.Stdout, o.Stderr)
	}
}

// TestAReplayIsRefused where there is nothing to replay, or nothing to replay it by.
func TestAReplayIsRefused(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for text, args := range map[string][]string{
		"one argument":                     {"--decisions", empty},
		"--decisions":                      {"embedded"},
		"there are no decisions":           {"--decisions", filepath.Join(empty, "none"), "embedded"},
		"no decision could be judged":      {"--decisions", empty, "embedded"},
		"is neither a folder nor a bundle": {"--decisions", empty, filepath.Join(empty, "none")},
	} {
		o := harness.Command(t, nil, append([]string{"policy", "replay"}, args...)...)
		if o.Code != 2 || !strings.Contains(o.Stderr, text) {
			t.Errorf("%v: %+v, want %q", args, o, text)
		}
	}
	broken := harness.CopyPolicies(t)
	harness.WriteFile(t, filepath.Join(broken, "authz", "broken.rego"), "package authz\n\nx if y\n")
	if o := harness.Command(t, nil, "policy", "replay", "--decisions", empty, broken); o.Code != 2 || !strings.Contains(o.Stderr, "authz/broken.rego:3") {
		t.Errorf("%+v", o)
	}
}

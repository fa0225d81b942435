package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const freezeRule = `package authz

# METADATA
# title: Nothing is done to volcanoes
deny contains "volcanoes are left alone" if {
	input.action.resource == "volcano"
}
`

const freezeTest = `package authz_test

import data.authz

test_volcanoes_are_left_alone if {
	"volcanoes are left alone" in authz.deny with input.action.resource as "volcano"
}
`

// copyPolicies copies the policy tree of the repository into a folder of the test.
func copyPolicies(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"authz", "grants", "routes", "schemas"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../../policies", part))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// eventually polls until the condition holds; it gives how long that took.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	started := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Since(started) > within {
			t.Fatalf("not within %s: %s", within, what)
		}
		<-tick.C
	}
	return time.Since(started)
}

// reloadWithin is how long an edit of a policy may take to be in force on a machine that other
// tests keep busy; on an idle one it is within a second.
const reloadWithin = time.Minute

func TestAnEditOfThePolicyFolderIsInForceAtOnce(t *testing.T) {
	policies := copyPolicies(t)
	s := newScene(t, startGateway(t, "--policy-dir", policies))
	erupts := func() (somewhere bool) {
		for _, p := range s.each() {
			at := *s
			at.gatewayProcess = p
			somewhere = at.allowed(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes") || somewhere
		}
		return somewhere
	}
	if !erupts() {
		t.Fatal("an admin was denied before the rule was there")
	}
	before := s.ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes").Header.Get("X-Policy-Revision")
	write(t, filepath.Join(policies, "authz", "volcano_test.rego"), freezeTest)
	write(t, filepath.Join(policies, "authz", "volcano.rego"), freezeRule)
	took := eventually(t, reloadWithin, "the new rule denies", func() bool { return !erupts() })
	t.Logf("in force after %s", took)
	r := s.ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
	if r.Body["reason"] != "volcanoes are left alone" {
		t.Errorf("reason %q", r.Body["reason"])
	}
	revision := r.Header.Get("X-Policy-Revision")
	if revision == "" || revision == before || !strings.Contains(metricsOf(t, s.gatewayProcess), `portcullis_policy_info{revision="`+revision+`"} 1`) {
		t.Errorf("the revision was %q and is %q", before, revision)
	}
}

// badPolicyPushed: the last good one decides on, and log and metric say why.
func badPolicyPushed(t *testing.T) {
	for name, edit := range map[string]struct{ file, text, says string }{
		"syntax":           {"authz/broken.rego", "package authz\n\nallow if {", "rego_parse_error"},
		"misspelt input":   {"authz/broken.rego", strings.ReplaceAll(freezeRule, "input.action", "input.acton"), "action"},
		"its test fails":   {"authz/broken_test.rego", strings.ReplaceAll(freezeTest, "volcanoes are", "geysers are"), "test_volcanoes"},
		"row without home": {"routes/data.json", "", "no handler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policies := copyPolicies(t)
			s := newScene(t, startGateway(t, "--policy-dir", policies))
			before := s.ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
			text := edit.text
			if text == "" {
				text = withRow(t, filepath.Join(policies, edit.file))
			}
			write(t, filepath.Join(policies, edit.file), text)
			for _, p := range s.each() {
				eventually(t, reloadWithin, "the log says why", func() bool { return strings.Contains(p.stderr.String(), "policy change refused") })
			}
			if !strings.Contains(s.stderr.String(), edit.says) {
				t.Errorf("the log does not say %q:\n%s", edit.says, s.stderr)
			}
			after := s.ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
			if string(before.Raw) != string(after.Raw) || before.Header.Get("X-Policy-Revision") != after.Header.Get("X-Policy-Revision") {
				t.Errorf("the decision changed: %s, then %s", before.Raw, after.Raw)
			}
			if m := metricsOf(t, s.gatewayProcess); !strings.Contains(m, `portcullis_policy_reloads_total{result="refused"} 1`) {
				t.Error("the metric does not count the refusal")
			}
		})
	}
}

// withRow adds a row that nothing serves to a catalogue.
func withRow(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	row := `{ "X1": {"method": "GET", "path": "/api/v1/nothing", "action": "account:role:read", "effect": "read", "area": "access", "upstream": "access"},`
	return strings.Replace(string(raw), "{", row, 1)
}

// metricsOf are the metrics of each of the gateway's processes.
func metricsOf(t *testing.T, g *gatewayProcess) string {
	t.Helper()
	var all strings.Builder
	for _, p := range g.each() {
		all.Write(call(t, "GET", p.HealthURL+"/metrics", "", "").Raw)
	}
	return all.String()
}

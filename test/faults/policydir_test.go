package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// reloadWithin is how long an edit of a policy may take to be in force on a machine that other
// tests keep busy; on an idle one it is within a second.
const reloadWithin = time.Minute

func TestAnEditOfThePolicyFolderIsInForceAtOnce(t *testing.T) {
	policies := harness.CopyPolicies(t)
	s := harness.NewScene(t, harness.Start(t, "--policy-dir", policies))
	erupts := func() (somewhere bool) {
		for _, p := range s.Each() {
			scene := *s
			scene.Gateway = p
			somewhere = scene.Allowed(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes") || somewhere
		}
		return somewhere
	}
	if !erupts() {
		t.Fatal("an admin was denied before the rule was there")
	}
	before := s.Ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes").Header.Get("X-Policy-Revision")
	harness.WriteFile(t, filepath.Join(policies, "authz", "volcano_test.rego"), harness.FreezeTest)
	harness.WriteFile(t, filepath.Join(policies, "authz", "volcano.rego"), harness.FreezeRule)
	took := harness.SoonWithin(t, reloadWithin, "the new rule denies", func() bool { return !erupts() })
	t.Logf("in force after %s", took)
	r := s.Ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
	if r.Body["reason"] != "volcanoes are left alone" {
		t.Errorf("reason %q", r.Body["reason"])
	}
	revision := r.Header.Get("X-Policy-Revision")
	if revision == "" || revision == before {
		t.Errorf("the revision was %q and is %q", before, revision)
	}
	harness.Soon(t, "the metric names the revision", func() bool {
		return strings.Contains(harness.MetricsOf(t, s.Gateway), `portcullis_policy_info{revision="`+revision+`"} 1`)
	})
}

// badPolicyPushed: the last good one decides on, and log and metric say why.
func badPolicyPushed(t *testing.T) {
	for name, edit := range map[string]struct{ file, text, says string }{
		"syntax":           {"authz/broken.rego", "package authz\n\nallow if {", "rego_parse_error"},
		"misspelt input":   {"authz/broken.rego", strings.ReplaceAll(harness.FreezeRule, "input.action", "input.acton"), "action"},
		"its test fails":   {"authz/broken_test.rego", strings.ReplaceAll(harness.FreezeTest, "volcanoes are", "geysers are"), "test_volcanoes"},
		"row without home": {"routes/data.json", "", "no handler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policies := harness.CopyPolicies(t)
			s := harness.NewScene(t, harness.Start(t, "--policy-dir", policies))
			before := s.Ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
			text := edit.text
			if text == "" {
				text = withRow(t, filepath.Join(policies, edit.file))
			}
			harness.WriteFile(t, filepath.Join(policies, edit.file), text)
			for _, p := range s.Each() {
				harness.SoonWithin(t, reloadWithin, "the log says why", func() bool { return strings.Contains(p.Stderr.String(), "policy change refused") })
			}
			if !strings.Contains(s.Stderr.String(), edit.says) {
				t.Errorf("the log does not say %q:\n%s", edit.says, s.Stderr)
			}
			after := s.Ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
			if string(before.Raw) != string(after.Raw) || before.Header.Get("X-Policy-Revision") != after.Header.Get("X-Policy-Revision") {
				t.Errorf("the decision changed: %s, then %s", before.Raw, after.Raw)
			}
			if m := harness.MetricsOf(t, s.Gateway); !strings.Contains(m, `portcullis_policy_reloads_total{result="refused"} 1`) {
				t.Error("the metric does not count the refusal")
			}
		})
	}
}

// withRow adds a row that nothing serves to a catalogue.
func withRow(t *testing.T, path string) string {
	t.Helper()
	raw := must.Get(os.ReadFile(path))(t)
	row := `{ "X1": {"method": "GET", "path": "/api/v1/nothing", "action": "account:role:read", "effect": "read", "area": "access", "upstream": "access"},`
	return strings.Replace(string(raw), "{", row, 1)
}

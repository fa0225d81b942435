package faults_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestACandidateChangesNoVerdict guarantees that a denying candidate is counted and logged, and an endless or greedy
// one is counted. The callers' verdicts stay as they are.
func TestACandidateChangesNoVerdict(t *testing.T) {
	for name, c := range map[string]struct{ condition, outcome, log string }{
		"denies":               {"true", "new_deny", "best-effort"},
		"denies beside no log": {"true", "new_deny", "off"},
		"loops":                {"some i in numbers.range(1, 2000)\n\tsome j in numbers.range(1, 2000)\n\ti * j < 0", "late", "best-effort"},
		"takes memory":         {"count(numbers.range(1, 100000000)) < 0", "error", "best-effort"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			candidate := harness.CopyPolicies(t)
			harness.WriteFile(t, filepath.Join(candidate, "authz", "volcano.rego"),
				"package authz\n\ndeny contains \"volcanoes are left alone\" if {\n\tinput.action.resource == \"volcano\"\n\t"+c.condition+"\n}\n")
			s := harness.NewScene(t, harness.Start(t, "--shadow-policy-dir", candidate, "--decision-log", c.log))
			for _, p := range s.Each() {
				harness.SoonWithin(t, reloadWithin, "there is a candidate", func() bool { return strings.Contains(p.Stderr.String(), "a candidate policy judges beside") })
			}
			var lines []string
			harness.SoonWithin(t, reloadWithin, "the candidate's outcome is counted", func() bool {
				r := s.Ask(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes")
				if r.Status != 200 || r.Body["allowed"] != true {
					t.Fatalf("the candidate's verdict was told: %d %s", r.Status, r.Raw)
				}
				lines = append(lines, r.Header.Get("X-Decision-Id"))
				return harness.MetricOf(t, s.Gateway, `portcullis_shadow_total{outcome="`+c.outcome+`"}`) > 0
			})
			if c.outcome == "new_deny" && !strings.Contains(s.Stderr.String(), `"candidate_reason":"volcanoes are left alone"`) {
				t.Errorf("the log does not say what the candidate denies:\n%s", s.Stderr)
			}
			if c.outcome == "new_deny" && !slices.ContainsFunc(lines, func(id string) bool {
				return id != "" && strings.Contains(s.Stderr.String(), `"decision_id":"`+id+`"`)
			}) {
				t.Errorf("no example is one of the verdicts %q:\n%s", lines, s.Stderr)
			}
		})
	}
}

// TestACandidateThatIsNoTreeIsReported while the gateway serves.
func TestACandidateThatIsNoTreeIsReported(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--shadow-policy-dir", t.TempDir()))
	for _, p := range s.Each() {
		harness.SoonWithin(t, reloadWithin, "the log says why", func() bool { return strings.Contains(p.Stderr.String(), "the candidate policy was refused") })
	}
	if !s.Allowed(t, s.Admin, "project:volcano:erupt", "/projects/"+s.Project+"/volcanoes") {
		t.Error("an admin was denied")
	}
}

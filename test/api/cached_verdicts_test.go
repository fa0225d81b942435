package api_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

const metricReused = `portcullis_policy_cache_hits_total{entry="decision"}`

// TestKeptVerdictsAreBoundedByTheSetting: of more equal questions, no more are given the
// verdict of before than are kept.
func TestKeptVerdictsAreBoundedByTheSetting(t *testing.T) {
	t.Parallel()
	const questions, few = 40, 16
	reused := func(args ...string) (all float64) {
		s := harness.NewScene(t, harness.Start(t, args...))
		round := func() float64 {
			for i := range questions {
				s.Ask(t, s.Admin, fmt.Sprintf("project:kept:verb%02d", i), "/projects/"+s.Project+"/kept")
			}
			return harness.MetricOf(t, s.Gateway, metricReused)
		}
		for range 8 { // the metric is there from its first count on, on each replica
			s.Ask(t, s.Admin, "project:kept:twice", "/projects/"+s.Project+"/kept")
		}
		before := round()
		return round() - before
	}
	if n := reused("--cached-verdicts", fmt.Sprint(few)); n > few {
		t.Errorf("%.0f of %d verdicts were given again, of %d kept", n, questions, few)
	}
	if n := reused("--cached-verdicts", fmt.Sprint(10*questions)); n < questions && !harness.OnReplicas() { // each of them keeps its own
		t.Errorf("%.0f of %d verdicts were given again, of %d kept", n, questions, 10*questions)
	}
}

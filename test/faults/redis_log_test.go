package faults_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestLogSaysOnceThatRedisIsGone, and why, in a line like every other; the driver's own
// lines are not among them. Decisions go on, and the gateway stays ready.
func TestLogSaysOnceThatRedisIsGone(t *testing.T) {
	t.Parallel()
	r := harness.StartReplicas(t, 1)
	r.Redis.Kill()
	gone := func() int { return strings.Count(r.Stderr.String(), "the shared cache does not answer") }
	harness.SoonWithin(t, 30e9, "the log says that Redis is gone", func() bool {
		// A change makes the next question look for a new revision.
		if got := r.Do(t, "PUT", harness.AssignmentPath("project_reader", r.Admin, r.Project), "{}"); got.Status != 200 && got.Status != 409 {
			t.Fatalf("%d %s", got.Status, got.Raw)
		}
		if got := r.Ask(t, r.Admin, "project:x:read", "/projects/"+r.Project+"/x"); got.Body["allowed"] != true {
			t.Fatalf("%d %s", got.Status, got.Raw)
		}
		return gone() > 0
	})
	if got := harness.Call(t, "GET", r.HealthURL+"/healthz/ready", "", ""); got.Status != 200 || gone() != 1 {
		t.Errorf("%d, and said %d times", got.Status, gone())
	}
	for line := range strings.Lines(r.Stderr.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q", line)
		}
	}
	if log := r.Stderr.String(); !strings.Contains(log, "connection refused") && !strings.Contains(log, "deadline exceeded") && !strings.Contains(log, "i/o timeout") {
		t.Error("the log does not say why") // on a busy machine it may not even be refused in time
	}
}

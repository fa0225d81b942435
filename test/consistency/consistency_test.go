package consistency_test

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// envDecisions is how many decisions a long run judges at least.
const envDecisions = "PORTCULLIS_TEST_DECISIONS"

// long says whether figures are wanted and time does not matter.
func long() bool { return os.Getenv(envDecisions) != "" }

// allFaults are those of a set of three nodes.
func allFaults() []fault { return slices.Concat(redisFaults(), replicaFaults(), mongoFaults()) }

// uneven are replicas with leases of their own: a change waits for the longest.
func uneven() shape {
	return shape{leases: []string{"200ms", "50ms", "400ms"}, accounts: 6, perKind: 3, duels: 1}
}

// TestChangeThatWasAnsweredIsInForce on every replica, whatever fails.
func TestChangeThatWasAnsweredIsInForce(t *testing.T) {
	tier.Check(t)
	most, enough := 20*time.Second, 0
	if n, err := strconv.Atoi(os.Getenv(envDecisions)); err == nil {
		most, enough = 50*time.Minute, n
	}
	w := newWorld(t, program(t, ""), servers.NewMongo(t, 3), uneven())
	w.run(clients{writers: 8, readers: 8}, allFaults(), most, enough)
	w.settle()
	v := w.verdict()
	w.report(v)
	if v.judged < enough {
		t.Errorf("%d decisions were judged within %s, want %d", v.judged, most, enough)
	}
}

// TestScenarios: the program stands each of those that tell its mutants.
func TestScenarios(t *testing.T) {
	tier.Check(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w, v := s.run(t, program(t, s.name, s.edits...), 10*time.Second)
			w.report(v)
		})
	}
}

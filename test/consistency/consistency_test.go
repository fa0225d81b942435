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

// envDecisions is the least number of decisions in a long run.
const envDecisions = "PORTCULLIS_TEST_DECISIONS"

// long reports whether this is a long run, for figures.
func long() bool { return os.Getenv(envDecisions) != "" }

// allFaults returns the faults of Redis, of the replicas, and of a set of three MongoDB nodes.
func allFaults() []fault { return slices.Concat(redisFaults(), replicaFaults(), mongoFaults()) }

// uneven returns replicas with different leases: a change waits for the longest.
func uneven() shape {
	return shape{leases: []string{"200ms", "50ms", "400ms"}, accounts: 6, perKind: 3, duels: 1}
}

// TestChangeThatWasAnsweredIsInForce guarantees that an answered change is in force on every replica, under all faults.
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

// TestScenarios guarantees that the program passes the scenarios of its mutants.
func TestScenarios(t *testing.T) {
	tier.Check(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w, v := s.run(t, program(t, s.name, s.edits...), 10*time.Second)
			w.report(v)
		})
	}
}

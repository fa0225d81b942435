package faults_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/tier"
)

// rows are faults with one promise.
type rows []struct {
	fault string
	row   func(t *testing.T)
}

func (r rows) run(t *testing.T) {
	t.Helper()
	for _, one := range r {
		t.Run(one.fault, one.row)
	}
}

// TestFaults is the table of faults: what breaks, and what is promised then. Each row has
// the real binary on real servers, and breaks them. The identity provider's row is
// TestFaultsOfTheIdentityProvider.
//
// Two things can't be done to a process from outside. The keys of an identity provider are
// over their maximum age after a day: gateway/authn, TestProviderThatIsDown, has the 401
// then, and the provider that comes back. And no tool moves the clock of one process, since
// Go reads it without the C library: that row moves the clock of the cache, on a real store.
func TestFaults(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	t.Run("Redis: right answers, slower; ready", func(t *testing.T) {
		t.Parallel()
		r := startShelf(t)
		rows{
			{"flushed", r.row("miss", r.flush)},
			{"an old copy", r.row("miss", r.oldCopy)},
			{"every value is garbage", r.row("forged", r.garbage)},
			{"every value is cut", r.row("forged", r.cut)},
			{"the values about a user are an admin's", r.row("forged", r.anAdmins)},
			{"every value is of another type", r.row("down", r.otherType)},
			{"slow", r.row("down", r.pause)},
			{"down", r.row("down", r.kill)},
		}.run(t)
	})
	t.Run("MongoDB without a primary: decisions for at most the lease, then 503; writes 503; recovers; no answered write lost", func(t *testing.T) {
		t.Parallel()
		p := startPrimaryless(t)
		rows{
			{"the primary is left alone", p.row(200, func(t *testing.T) func() { return p.set.KillMajority(t, false) })},
			{"the primary is killed, with another", p.row(200, func(t *testing.T) func() { return p.set.KillMajority(t, true) })},
			// Liveness is a ping of the database, and no node answers one.
			{"all nodes are paused", p.row(503, func(t *testing.T) func() { return p.set.Pause(t) })},
		}.run(t)
	})
	t.Run("a replica: no stale allow; drains within 10 s on SIGTERM without dropping an accepted request", func(t *testing.T) {
		t.Parallel()
		rows{
			{"killed", replicaKilled},
			{"paused for longer than the lease", replicaPaused},
			{"its clock moved", replicaClockMoved},
			{"SIGTERM, with requests under way", sigtermUnderLoad},
			{"SIGTERM, with a request that does not end", sigtermWithoutAnEnd},
			{"SIGTERM, with a check of Envoy's under way", sigtermWithACheck},
		}.run(t)
	})
	t.Run("policy: the last good one, or that request denied with 503; the process lives", func(t *testing.T) {
		t.Parallel()
		rows{
			{"a bad one is pushed", badPolicyPushed},
			{"over its time", policyFails(endlessRule, "timeout", "policy evaluation took too long")},
			{"over its memory", policyFails(greedyRule, "memory", "policy evaluation took too much memory")},
			{"a panic in a built-in", policyFails(panicRule, "panic", "authorization state unavailable")},
		}.run(t)
	})
	t.Run("mail server down: invitations answered, mail kept and retried; ready", func(t *testing.T) {
		t.Parallel()
		rows{
			{"the gateway goes on", mailServerDown(false)},
			{"the gateway is killed and started again", mailServerDown(true)},
		}.run(t)
	})
	t.Run("log sink blocked: requests go on; what is dropped is counted", func(t *testing.T) {
		t.Parallel()
		rows{{"stuck", logStuck}, {"gone", logGone}}.run(t)
	})
}

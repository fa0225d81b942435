package provision

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	// most is how many claims are asked for at once; waitFor is how long the gateway may wait for work.
	most    = 20
	waitFor = 20 * time.Second
	// pause is the time before a failed request is sent again.
	pause = time.Second
	// LongestStep leaves time for the steps of a claim within the longest lease.
	LongestStep = 3 * time.Minute
)

// Simulator works on claims until its context ends. Every field is required.
type Simulator struct {
	// URL is the gateway's, without a path.
	URL string
	// Token returns a token with the scope clusters:provision.
	Token func() (string, error)
	// FailureRate is the share of claims that fail, from 0 to 1.
	FailureRate float64
	// Step is the time of each step, at most LongestStep.
	Step time.Duration
	Log  *slog.Logger
}

// Run claims and works until the context ends, and then returns nil. It returns the error of a gateway that refuses the
// caller.
func (s *Simulator) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	lease := 30*time.Second + 3*s.Step
	ask := map[string]any{"max": most, "wait_seconds": int(waitFor.Seconds()), "lease_seconds": int(lease.Seconds())}
	for ctx.Err() == nil {
		claims, err := s.claims(ctx, ask, waitFor)
		var refused refusal
		switch {
		case ctx.Err() != nil:
		case errors.As(err, &refused) && refused.status < 500 && refused.status != http.StatusTooManyRequests:
			return err
		case err != nil:
			s.Log.Warn("no claims now", "error", err.Error())
			sleep(ctx, pause)
		}
		for _, c := range claims {
			work.Go(func() { s.work(ctx, c) })
		}
	}
	return nil
}

// work goes through the steps of one claim.
func (s *Simulator) work(ctx context.Context, c claim) {
	log := s.Log.With("cluster", c.cluster(), "claim", c.ID, "attempt", c.Attempt)
	log.Info("claimed", "intent", c.Intent)
	sleep(ctx, s.Step)
	fails := rand.Float64() < s.FailureRate //nolint:gosec // the simulation of an accident is no secret
	var last map[string]any
	switch {
	case c.Intent == "delete" && fails: // the cluster stays DELETING, and is claimed again after the lease
		last = map[string]any{"error": "the simulated machines did not stop"}
	case c.Intent == "delete":
		last = map[string]any{"status": c.status("DELETED")}
	case fails:
		last = map[string]any{"status": c.status("ERROR"), "error": "the simulated machines did not start"}
	default:
		if !s.tell(ctx, log, c, s.made(c)) {
			return
		}
		sleep(ctx, s.Step)
		last = map[string]any{"status": c.status("RUNNING")}
	}
	if s.tell(ctx, log, c, last) {
		log.Info("done", "report", last)
	}
}

// made returns what there is of the cluster before it runs.
func (s *Simulator) made(c claim) map[string]any {
	if c.Kind == "gpu" {
		return map[string]any{"resources": []map[string]any{{
			"external_id": "sim-" + c.cluster(), "name": "node-1", "resource_type": "vm", "status": "running",
			"created_at": time.Now().UTC().Format(time.RFC3339), "primary_ip": "192.0.2.10",
		}}}
	}
	return map[string]any{"cluster_endpoint": "https://" + c.cluster() + ".clusters.invalid:6443"}
}

// tell reports, and repeats a report that the gateway does not take now, until the lease ends. It
// returns false where the claim is over.
func (s *Simulator) tell(ctx context.Context, log *slog.Logger, c claim, body map[string]any) bool {
	for ctx.Err() == nil {
		err := s.report(ctx, c, body)
		var refused refusal
		switch {
		case err == nil:
			return true
		case errors.As(err, &refused) && refused.status < 500 && refused.status != http.StatusTooManyRequests, time.Now().After(c.LeaseUntil):
			log.Warn("the claim is given up", "error", err.Error())
			return false
		}
		sleep(ctx, pause)
	}
	return false
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

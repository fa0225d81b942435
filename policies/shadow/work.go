package shadow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// work judges queued questions until ctx is done.
func (s *Shadow) work(ctx context.Context, candidate Policy) {
	slices, rest, worked := pace(), firstRest, time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-s.queue:
			start := time.Now()
			outcome := s.judge(ctx, candidate, &j)
			took := time.Since(start)
			if ctx.Err() != nil {
				return
			}
			s.count(outcome)
			if outcome != Error && outcome != Late {
				rest = firstRest
				if took < slices.Slice { // a longer evaluation has paused by itself
					worked += took
				}
				if slices.Rest(worked) {
					worked = 0
				}
				continue
			}
			if !sleep(ctx, rest) {
				return
			}
			rest = min(2*rest, longestRest)
		}
	}
}

// sleep returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// judge returns the outcome of one question.
func (s *Shadow) judge(ctx context.Context, candidate Policy, j *judged) string {
	said, err := s.ask(ctx, candidate, j)
	switch {
	case errors.Is(err, resources.ErrPolicyTime):
		return Late
	case err != nil:
		s.findings.fail(err)
		return Error
	case said.Allowed == j.live.Allowed:
		return Same
	}
	outcome := NewDeny
	if said.Allowed {
		outcome = NewAllow
	}
	if s.findings.flip(j.question.Action.ID, outcome, j.id) {
		s.opts.Log.Info("the candidate policy decides otherwise", "outcome", outcome, "action", j.question.Action.ID, "decision_id", j.id,
			"account", j.question.AccountID, "reason", resources.MaskCredentials(j.live.Reason),
			"candidate_reason", resources.MaskCredentials(said.Reason), "candidate_revision", said.PolicyRevision)
	}
	return outcome
}

func (s *Shadow) ask(ctx context.Context, candidate Policy, j *judged) (d resources.Decision, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = resources.Decision{}, fmt.Errorf("panic: %v", r)
		}
	}()
	if j.access {
		q, err := s.rows.asked(candidate, j.question)
		if err != nil {
			return d, err
		}
		return candidate.Access(ctx, q)
	}
	return candidate.Decide(ctx, j.question)
}

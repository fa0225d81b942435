package main

import (
	"context"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/shadow"
	"github.com/portcullis-authz/portcullis/resources"
)

// newShadow returns what judges by --shadow-policy-dir, nil without one.
func (a *app) newShadow() *shadow.Shadow {
	s := a.settings.Policy
	if s.ShadowDir == "" {
		return nil
	}
	return shadow.New(shadow.Options{
		Dir: s.ShadowDir, Sample: s.ShadowSample, Load: proof.Load,
		Observe: a.metrics.WatchShadow(shadow.Outcomes()...), Log: a.log.Logger,
	})
}

// shadowed returns the policy in force, with a candidate beside it where there is one.
func (a *app) shadowed(policy verdict.Policy) verdict.Policy {
	if a.shadow == nil {
		return policy
	}
	return shadowedPolicy{policy, a.shadow}
}

// shadowedPolicy offers to the candidate what the policy in force has judged.
type shadowedPolicy struct {
	verdict.Policy
	beside *shadow.Shadow
}

// Decide implements verdict.Policy.
func (p shadowedPolicy) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	d, err := p.Policy.Decide(ctx, q)
	if err == nil {
		p.beside.Offer("", false, &q, d)
	}
	return d, err
}

// Access implements verdict.Policy.
func (p shadowedPolicy) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	d, err := p.Policy.Access(ctx, q)
	if err == nil {
		p.beside.Offer("", true, &q, d)
	}
	return d, err
}

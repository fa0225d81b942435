package main

import (
	"context"

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

// shadowedLog offers to the candidate the verdicts that callers are told, by the ids that they are told. Those of apps
// and of grants are no questions of its entry points.
type shadowedLog struct {
	beside *shadow.Shadow
	// log is nil where no verdict is recorded.
	log resources.DecisionLog
}

// Record implements resources.DecisionLog.
func (l shadowedLog) Record(ctx context.Context, told ...*resources.Judgement) error {
	if l.log != nil {
		if err := l.log.Record(ctx, told...); err != nil {
			return err
		}
	}
	for _, one := range told {
		if (one.Path == resources.PathDecision || one.Path == resources.PathAccess) && !one.Unasked {
			l.beside.Offer(one.ID, one.Path == resources.PathAccess, &one.Question, one.Decision)
		}
	}
	return nil
}

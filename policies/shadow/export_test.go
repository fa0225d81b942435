package shadow

import "context"

// RunWith is Run with a candidate that is no tree.
func (s *Shadow) RunWith(ctx context.Context, candidate Policy) {
	s.work(ctx, candidate)
}

// MakeReady takes questions, whether somebody works them off or not.
func (s *Shadow) MakeReady() { s.ready.Store(true) }

const (
	Queued      = queued
	MaxExamples = maxExamples
	MaxActions  = maxActions
)

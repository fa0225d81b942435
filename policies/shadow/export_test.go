package shadow

import (
	"context"

	"github.com/portcullis-authz/portcullis/policies/engine"
)

// RunWith is Run with a candidate that is not a tree.
func (s *Shadow) RunWith(ctx context.Context, candidate Policy) {
	s.work(ctx, candidate)
}

// Await returns the first candidate of the folder, as Run has it.
func (s *Shadow) Await(ctx context.Context) *engine.Engine {
	candidate := s.await(ctx)
	s.candidate.Store(candidate)
	return candidate
}

// MakeReady takes questions, whether somebody works them off or not.
func (s *Shadow) MakeReady() { s.ready.Store(true) }

const (
	Queued      = queued
	MaxExamples = maxExamples
	MaxActions  = maxActions
)
